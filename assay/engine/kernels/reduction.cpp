// Reductions along axes, positions of extremes, sorting, running sums.

#include <algorithm>
#include <limits>

#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {
namespace {

// The Reduce family: axes as input 1 (operator set 18), none meaning all unless noop_with_empty_axes.
template <typename Reduce>
Outputs reduce(const Call& call, Reduce over) {
  const Tensor& x = call.input(0);
  const bool keep = call.node.integer("keepdims", 1) != 0;
  Ints axes = call.axes(1, x.dim(), {});
  if (axes.empty()) {
    if (call.node.integer("noop_with_empty_axes", 0) != 0) return {x};
    axes = all_axes(x.dim());
  }
  if (axes.empty()) return {over(x.unsqueeze(0), Ints{0}, false)};  // one number: reduced over one element
  return {over(x, axes, keep)};
}

Tensor total(const Tensor& x, const Ints& axes, bool keep) { return at::sum(x, axes, keep, x.scalar_type()); }

Tensor sum_of_squares(const Tensor& x, const Ints& axes, bool keep) { return total(x * x, axes, keep); }

std::int64_t count_along(const Tensor& x, const Ints& axes) {
  std::int64_t count = 1;
  for (const auto axis : axes) count *= x.size(axis);
  return count;
}

// The result of reducing no element: infinity, or the extreme of the type.
Tensor of_nothing(const Tensor& x, const Ints& axes, bool keep, bool greatest) {
  const Tensor counts = at::sum(x, axes, keep, at::kDouble);
  check_size(counts.sizes().vec(), x.element_size());
  if (!is_integral(x)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return at::full(counts.sizes(), greatest ? infinity : -infinity, x.options());
  }
  if (x.scalar_type() == at::kBool) return at::full(counts.sizes(), greatest, x.options());
  const std::int64_t bits =
      8 * static_cast<std::int64_t>(x.element_size()) - (x.scalar_type() == at::kByte ? 0 : 1);
  const std::int64_t most =
      bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
  return at::full(counts.sizes(),
                  greatest                       ? most
                  : x.scalar_type() == at::kByte ? 0
                                                 : -most - 1,
                  x.options());
}

// Norms of integers are computed in double and truncated.
Tensor norm(const Tensor& x, int p, const Ints& axes, bool keep) {
  const Tensor real = is_integral(x) ? x.to(at::kDouble) : x;
  return at::norm(real, p, axes, keep).to(x.scalar_type());
}

// Position of the first, or last, extreme along an axis.
Outputs arg(const Call& call, Tensor (*find)(const Tensor&, c10::optional<std::int64_t>, bool)) {
  const Tensor& x = call.input(0);
  const std::int64_t axis = call.axis(0, x.dim());
  const bool keep = call.node.integer("keepdims", 1) != 0;
  if (x.size(axis) == 0) fail(Fault::model, "axis {} is empty", axis);
  if (call.node.integer("select_last_index", 0) == 0) return {find(x, axis, keep)};
  return {x.size(axis) - 1 - find(at::flip(x, {axis}), axis, keep)};
}

}  // namespace

Outputs reduce_sum(const Call& call) { return reduce(call, total); }
Outputs reduce_sum_square(const Call& call) { return reduce(call, sum_of_squares); }

Outputs reduce_mean(const Call& call) {
  return reduce(call, [](const Tensor& x, const Ints& axes, bool keep) {
    if (!is_integral(x)) return at::mean(x, axes, keep);
    const std::int64_t count = count_along(x, axes);
    if (count == 0) fail(Fault::model, "the mean of no integers is not defined");
    return at::div(total(x, axes, keep), count, "trunc");
  });
}

// The extreme of nothing is what every number is beyond.
Outputs reduce_max(const Call& call) {
  return reduce(call, [](const Tensor& x, const Ints& axes, bool keep) {
    return count_along(x, axes) == 0 ? of_nothing(x, axes, keep, false) : at::amax(x, axes, keep);
  });
}
Outputs reduce_min(const Call& call) {
  return reduce(call, [](const Tensor& x, const Ints& axes, bool keep) {
    return count_along(x, axes) == 0 ? of_nothing(x, axes, keep, true) : at::amin(x, axes, keep);
  });
}

Outputs reduce_prod(const Call& call) {
  return reduce(call, [](Tensor x, Ints axes, bool keep) {
    std::ranges::sort(axes,
                      std::greater<>());  // from the back, so that the axes still to do keep their number
    for (const auto axis : axes) x = at::prod(x, axis, keep, x.scalar_type());
    return x;
  });
}

Outputs reduce_l1(const Call& call) {
  return reduce(call,
                [](const Tensor& x, const Ints& axes, bool keep) { return total(at::abs(x), axes, keep); });
}
Outputs reduce_l2(const Call& call) {
  return reduce(call, [](const Tensor& x, const Ints& axes, bool keep) { return norm(x, 2, axes, keep); });
}
Outputs reduce_log_sum(const Call& call) {
  return reduce(call,
                [](const Tensor& x, const Ints& axes, bool keep) { return at::log(total(x, axes, keep)); });
}
Outputs reduce_log_sum_exp(const Call& call) {
  return reduce(call,
                [](const Tensor& x, const Ints& axes, bool keep) { return at::logsumexp(x, axes, keep); });
}

Outputs arg_max(const Call& call) { return arg(call, at::argmax); }
Outputs arg_min(const Call& call) { return arg(call, at::argmin); }

// Among equals the one with the lower index comes first, hence a stable sort.
Outputs top_k(const Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t axis = call.axis(-1, x.dim()), count = call.integer(1, 0);
  require_in("k", count, 0, x.size(axis));
  const bool largest = call.node.integer("largest", 1) != 0;
  const auto [values, indices] = at::sort(x, /*stable=*/true, axis, /*descending=*/largest);
  return {values.narrow(axis, 0, count), indices.narrow(axis, 0, count)};
}

Outputs cumulative_sum(const Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t axis = axis_in(call.integer(1, 0), x.dim());
  const bool reverse = call.node.integer("reverse", 0) != 0;
  const Tensor forward = reverse ? at::flip(x, {axis}) : x;
  Tensor sums = at::cumsum(forward, axis, x.scalar_type());
  if (call.node.integer("exclusive", 0) != 0) sums = sums - forward;
  return {reverse ? at::flip(sums, {axis}) : sums};
}

Outputs cumulative_product(const Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t axis = axis_in(call.integer(1, 0), x.dim());
  const bool reverse = call.node.integer("reverse", 0) != 0;
  Tensor factors = reverse ? at::flip(x, {axis}) : x;
  if (call.node.integer("exclusive", 0) != 0 && x.size(axis) > 0) {
    const Tensor first = at::ones_like(factors.narrow(axis, 0, 1));
    factors = at::cat({first, factors.narrow(axis, 0, x.size(axis) - 1)}, axis);
  }
  const Tensor products = at::cumprod(factors, axis, x.scalar_type());
  return {reverse ? at::flip(products, {axis}) : products};
}

}  // namespace assay::operators
