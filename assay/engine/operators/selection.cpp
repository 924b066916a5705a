// Operators that choose or move elements as other inputs say, and arithmetic of bits.

#include <algorithm>
#include <numeric>

#include "assay/array/loops.h"
#include "assay/engine/operators/parts/support.h"
#include "assay/engine/operators/parts/window.h"

namespace assay::operators {
namespace {

void require_whole(const Array& x) {
  if (is_real(x.dtype()) || x.dtype() == DType::boolean)
    fail(Fault::model, "bits are of whole numbers, not of {}", to_string(x.dtype()));
}

struct Operands {
  Array a, b;
};

Operands whole_operands(const Call& call) {
  require_whole(call.input(0));
  require_whole(call.input(1));
  const auto [a, b] = promoted(call.input(0), call.input(1));
  check_size(array::broadcast_shape(a.shape(), b.shape()), size_of(a.dtype()));
  return {a, b};
}

}  // namespace

Outputs bitwise_and(const Call& call) {
  const auto [a, b] = whole_operands(call);
  return {array::bitwise_and(a, b)};
}
Outputs bitwise_or(const Call& call) {
  const auto [a, b] = whole_operands(call);
  return {array::bitwise_or(a, b)};
}
Outputs bitwise_xor(const Call& call) {
  const auto [a, b] = whole_operands(call);
  return {array::bitwise_xor(a, b)};
}
Outputs bitwise_not(const Call& call) {
  require_whole(call.input(0));
  return {array::bitwise_not(call.input(0))};
}

Outputs bit_shift(const Call& call) {
  const auto [a, b] = whole_operands(call);
  const std::string direction = call.node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    fail(Fault::model, "direction '{}' is neither LEFT nor RIGHT", direction);
  const std::int64_t bits = 8 * size_of(a.dtype());
  const Array kept = array::logical_and(b >= 0, b < bits), by = array::where(kept, b, array::zeros_like(b));
  const Array shifted = direction == "LEFT" ? array::shift_left(a, by) : array::shift_right(a, by);
  // Beyond all bits the sign is shifted in.
  const Array none = array::zeros_like(shifted);
  return {array::where(kept, shifted, direction == "RIGHT" ? array::where(a < 0, none - 1, none) : none)};
}

Outputs compress(const Call& call) {
  const bool along = call.node.has("axis");
  const Array x = along ? call.input(0) : call.input(0).flatten();
  const std::int64_t axis = along ? call.axis(0, x.rank()) : 0;
  const Array chosen = array::nonzero(call.input(1).flatten()).flatten();
  return {array::index_select(x, axis, checked_indices(chosen, x.size(axis)))};
}

Outputs reverse_sequence(const Call& call) {
  const Array& x = call.input(0);
  require_rank_at_least(x, 2);
  const std::int64_t time = axis_in(call.node.integer("time_axis", 0), x.rank());
  const std::int64_t batch = axis_in(call.node.integer("batch_axis", 1), x.rank());
  if (time == batch) fail(Fault::model, "time and batch are the same axis");
  const Ints lengths = call.integers(1);
  const std::int64_t steps = x.size(time), records = x.size(batch);
  if (std::ssize(lengths) != records)
    fail(Fault::model, "{} lengths are given for {} records", lengths.size(), records);
  for (const std::int64_t length : lengths) require_in("a length", length, 0, steps);
  const Array length = array::tensor(lengths).unsqueeze(0);
  const Array t = array::arange(steps).unsqueeze(1).expand({steps, records});
  const Array from = array::where(t < length, length - 1 - t, t);
  Ints order{time, batch}, back(x.shape().size());
  for (const std::int64_t axis : all_axes(x.rank())) {
    if (axis != time && axis != batch) order.push_back(axis);
  }
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  const Array front = x.permute(order);
  Ints shape(x.shape().size(), 1);
  shape[0] = steps, shape[1] = records;
  return {array::gather(front, 0, from.reshape(shape).expand(front.shape())).permute(back)};
}

// Elements or, along an axis, slices that differ; the first of equals stands for them.
Outputs unique(const Call& call) {
  const Array& x = call.input(0);
  const bool along = call.node.has("axis");
  const std::int64_t axis = along ? call.axis(0, x.rank()) : 0;
  const Array slices = along ? x.movedim(axis, 0) : x.flatten();
  const std::int64_t count = slices.rank() == 0 ? 1 : slices.size(0);
  const std::int64_t width = count == 0 ? 0 : slices.count() / count;
  const Array rows = slices.detach().reshape({count, width}).to(DType::float64).contiguous();
  const double* const data = rows.elements<double>();
  const auto compare = [&](std::int64_t a, std::int64_t b) {
    return std::lexicographical_compare_three_way(
        data + a * width, data + (a + 1) * width, data + b * width, data + (b + 1) * width,
        [](double p, double q) { return std::strong_order(p + 0.0, q + 0.0); });
  };
  Ints order(count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](auto a, auto b) { return compare(a, b) < 0; });
  // Groups of equals, ascending; each begins with its first element.
  std::vector<Ints> groups;
  for (const std::int64_t i : order) {
    if (groups.empty() || compare(groups.back()[0], i) != 0) groups.emplace_back();
    groups.back().push_back(i);
  }
  if (call.node.integer("sorted", 1) == 0) std::ranges::sort(groups, {}, [](const Ints& g) { return g[0]; });
  Ints first, counts, inverse(count);
  for (const Ints& group : groups) {
    for (const std::int64_t i : group) inverse[i] = std::ssize(first);
    first.push_back(group[0]);
    counts.push_back(std::ssize(group));
  }
  const auto indices = [&](const Ints& values) { return array::tensor(values, DType::int64); };
  const Array kept = array::index_select(along ? x : slices, axis, indices(first));
  return {kept, indices(first), indices(inverse), indices(counts)};
}

Outputs det(const Call& call) {
  require_rank_at_least(call.input(0), 2);
  return {array::det(call.input(0))};
}

Outputs max_unpool(const Call& call) {
  const Array& x = call.input(0);
  const Array& index = call.input(1);
  require_rank_at_least(x, 3);
  if (index.shape() != x.shape()) fail(Fault::model, "values and indices differ in shape");
  const Ints sizes = spatial_sizes(x);
  const Ints kernel = call.node.integers("kernel_shape", {});
  const Ints stride = call.node.integers("strides", Ints(sizes.size(), 1));
  const Ints pads = call.node.integers("pads", Ints(2 * sizes.size(), 0));
  if (kernel.size() != sizes.size() || stride.size() != sizes.size() || pads.size() != 2 * sizes.size())
    fail(Fault::model, "kernel_shape, strides and pads do not fit {} axes", sizes.size());
  Ints shape{x.size(0), x.size(1)};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    require_in("a kernel size", kernel[i], 1, largest_extent);
    require_in("a stride", stride[i], 1, largest_extent);
    const std::int64_t places = (sizes[i] - 1) * stride[i] + kernel[i] - pads[i] - pads[i + sizes.size()];
    require_in("a size of the result", places, 1, largest_extent);
    shape.push_back(places);
  }
  check_size(shape, size_of(x.dtype()));
  const std::int64_t all = element_count(shape);
  const Array flat =
      array::scatter(array::zeros({all}, x.dtype()), 0, checked_indices(index, all).flatten(), x.flatten());
  const Array result = flat.reshape(shape);
  if (!call.has(2)) return {result};
  // A larger result is the computed one padded with zeros.
  const Ints wanted = call.integers(2);
  if (wanted.size() != shape.size())
    fail(Fault::model, "output_shape has {} axes, not {}", wanted.size(), shape.size());
  check_size(wanted, size_of(x.dtype()));
  Ints padding;
  for (std::size_t i = shape.size(); i-- > 0;) {
    padding.push_back(0);
    padding.push_back(wanted[i] - shape[i]);
  }
  return {array::pad(result, padding)};
}

Outputs center_crop_pad(const Call& call) {
  Array x = call.input(0);
  const Ints axes = call.axes(2, x.rank(), all_axes(x.rank())), wanted = call.integers(1);
  if (axes.size() != wanted.size())
    fail(Fault::model, "{} sizes are given for {} axes", wanted.size(), axes.size());
  Ints shape = x.shape();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    require_in("a size", wanted[i], 0, std::int64_t{1} << 40);
    shape[axes[i]] = wanted[i];
  }
  check_size(shape, size_of(x.dtype()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t have = x.size(axes[i]);
    if (have > wanted[i]) x = x.narrow(axes[i], (have - wanted[i]) / 2, wanted[i]);
    if (have >= wanted[i]) continue;
    Ints padding(2 * (x.rank() - axes[i]), 0);
    padding[padding.size() - 2] = (wanted[i] - have) / 2;
    padding[padding.size() - 1] = wanted[i] - have - (wanted[i] - have) / 2;
    x = array::pad(x, padding);
  }
  return {x};
}

}  // namespace assay::operators
