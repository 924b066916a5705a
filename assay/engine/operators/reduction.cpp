// Reductions along axes, positions of extremes, sorting, running sums.

#include <algorithm>
#include <limits>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

// The Reduce family: axes as input 1 (operator set 18), none meaning all unless noop_with_empty_axes.
template <typename Reduce>
Outputs reduce(const Call& call, Reduce over) {
  const Array& x = call.input(0);
  const bool keep = call.node.integer("keepdims", 1) != 0;
  Ints axes = call.axes(1, x.rank(), {});
  if (axes.empty()) {
    if (call.node.integer("noop_with_empty_axes", 0) != 0) return {x};
    axes = all_axes(x.rank());
  }
  if (axes.empty()) return {over(x.unsqueeze(0), Ints{0}, false)};  // one number: reduced over one element
  return {over(x, axes, keep)};
}

Array total(const Array& x, const Ints& axes, bool keep) { return array::sum(x, axes, keep).to(x.dtype()); }

Array sum_of_squares(const Array& x, const Ints& axes, bool keep) { return total(x * x, axes, keep); }

std::int64_t count_along(const Array& x, const Ints& axes) {
  std::int64_t count = 1;
  for (const auto axis : axes) count *= x.size(axis);
  return count;
}

// The result of reducing no element: infinity, or the extreme of the type.
Array of_nothing(const Array& x, const Ints& axes, bool keep, bool greatest) {
  const Array counts = array::sum(x.to(DType::float64), axes, keep);
  check_size(counts.shape(), size_of(x.dtype()));
  if (!is_integral(x)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return array::full(counts.shape(), greatest ? infinity : -infinity, x.dtype());
  }
  if (x.dtype() == DType::boolean) return array::full(counts.shape(), greatest, x.dtype());
  const std::int64_t bits =
      8 * static_cast<std::int64_t>(size_of(x.dtype())) - (x.dtype() == DType::uint8 ? 0 : 1);
  const std::int64_t most =
      bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
  return array::full(counts.shape(), greatest ? most : x.dtype() == DType::uint8 ? 0 : -most - 1, x.dtype());
}

// Norms of integers are computed in double and truncated.
Array norm(const Array& x, int p, const Ints& axes, bool keep) {
  const Array real = is_integral(x) ? x.to(DType::float64) : x;
  return array::norm(real, p, axes, keep).to(x.dtype());
}

// Position of the first, or last, extreme along an axis.
Outputs arg(const Call& call, Array (*find)(const Array&, std::int64_t, bool)) {
  const Array& x = call.input(0);
  const std::int64_t axis = call.axis(0, x.rank());
  const bool keep = call.node.integer("keepdims", 1) != 0;
  if (x.size(axis) == 0) fail(Fault::model, "axis {} is empty", axis);
  if (call.node.integer("select_last_index", 0) == 0) return {find(x, axis, keep)};
  return {x.size(axis) - 1 - find(array::flip(x, {axis}), axis, keep)};
}

}  // namespace

Outputs reduce_sum(const Call& call) { return reduce(call, total); }
Outputs reduce_sum_square(const Call& call) { return reduce(call, sum_of_squares); }

Outputs reduce_mean(const Call& call) {
  return reduce(call, [](const Array& x, const Ints& axes, bool keep) {
    if (!is_integral(x)) return array::mean(x, axes, keep);
    const std::int64_t count = count_along(x, axes);
    if (count == 0) fail(Fault::model, "the mean of no integers is not defined");
    return array::div(total(x, axes, keep), count, array::Rounding::truncate);
  });
}

// The extreme of nothing is what every number is beyond.
Outputs reduce_max(const Call& call) {
  return reduce(call, [](const Array& x, const Ints& axes, bool keep) {
    return count_along(x, axes) == 0 ? of_nothing(x, axes, keep, false) : array::amax(x, axes, keep);
  });
}
Outputs reduce_min(const Call& call) {
  return reduce(call, [](const Array& x, const Ints& axes, bool keep) {
    return count_along(x, axes) == 0 ? of_nothing(x, axes, keep, true) : array::amin(x, axes, keep);
  });
}

Outputs reduce_prod(const Call& call) {
  return reduce(call, [](Array x, Ints axes, bool keep) {
    std::ranges::sort(axes,
                      std::greater<>());  // from the back, so that the axes still to do keep their number
    for (const auto axis : axes) x = array::prod(x, {axis}, keep).to(x.dtype());
    return x;
  });
}

Outputs reduce_l1(const Call& call) {
  return reduce(call,
                [](const Array& x, const Ints& axes, bool keep) { return total(array::abs(x), axes, keep); });
}
Outputs reduce_l2(const Call& call) {
  return reduce(call, [](const Array& x, const Ints& axes, bool keep) { return norm(x, 2, axes, keep); });
}
Outputs reduce_log_sum(const Call& call) {
  return reduce(call,
                [](const Array& x, const Ints& axes, bool keep) { return array::log(total(x, axes, keep)); });
}
Outputs reduce_log_sum_exp(const Call& call) {
  return reduce(call,
                [](const Array& x, const Ints& axes, bool keep) { return array::logsumexp(x, axes, keep); });
}

Outputs arg_max(const Call& call) { return arg(call, array::argmax); }
Outputs arg_min(const Call& call) { return arg(call, array::argmin); }

// Among equals the one with the lower index comes first, hence a stable sort.
Outputs top_k(const Call& call) {
  const Array& x = call.input(0);
  const std::int64_t axis = call.axis(-1, x.rank()), count = call.integer(1, 0);
  require_in("k", count, 0, x.size(axis));
  const bool largest = call.node.integer("largest", 1) != 0;
  const auto [values, indices] = array::sort(x, axis, largest);
  return {values.narrow(axis, 0, count), indices.narrow(axis, 0, count)};
}

Outputs cumulative(const Call& call, Array (*neutral)(const Array&),
                   Array (*accumulated)(const Array&, std::int64_t)) {
  const Array& x = call.input(0);
  const std::int64_t axis = axis_in(call.integer(1, 0), x.rank());
  const bool reverse = call.node.integer("reverse", 0) != 0;
  Array parts = reverse ? array::flip(x, {axis}) : x;
  // Moved, not taken away again: small sums would be lost behind a large element, and infinities become NaN.
  if (call.node.integer("exclusive", 0) != 0 && x.size(axis) > 0) {
    const Array first = neutral(parts.narrow(axis, 0, 1));
    parts = array::cat({first, parts.narrow(axis, 0, x.size(axis) - 1)}, axis);
  }
  const Array whole = accumulated(parts, axis).to(x.dtype());
  return {reverse ? array::flip(whole, {axis}) : whole};
}

Outputs cumulative_sum(const Call& call) { return cumulative(call, array::zeros_like, array::cumsum); }
Outputs cumulative_product(const Call& call) { return cumulative(call, array::ones_like, array::cumprod); }

}  // namespace assay::operators
