// Operators that rearrange elements without computing with them.

#include <algorithm>
#include <numeric>

#include "assay/array/loops.h"
#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

// Shapes of networks have few; a limit bounds what a hostile file can ask for.
void require_rank(std::size_t rank) {
  if (rank > 64) fail(Fault::model, "{} axes are more than the 64 that can be computed with", rank);
}

Ints split_sizes(const Call& call, std::int64_t size) {
  if (call.has(1)) return call.integers(1);
  const auto outputs = std::ssize(call.node.outputs);
  const std::int64_t parts = call.node.integer("num_outputs", outputs);
  require_in("num_outputs", parts, 1, std::max<std::int64_t>(1, outputs));
  const std::int64_t chunk = (size + parts - 1) / parts;
  Ints sizes;
  for (std::int64_t done = 0; std::ssize(sizes) < parts; done += sizes.back()) {
    sizes.push_back(std::min(chunk, size - done));
  }
  return sizes;
}

// One axis of a Slice. Out-of-range bounds are moved to the nearest end, as in Python.
Array slice_axis(const Array& x, std::int64_t axis, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t size = x.size(axis), most = std::max<std::int64_t>(1, size);
  if (step == 0) fail(Fault::model, "the step of axis {} is 0", axis);
  step = std::clamp(step, -most, most);
  const auto bound = [&](std::int64_t position, std::int64_t low, std::int64_t high) {
    return std::clamp(position < 0 ? position + size : position, low, high);
  };
  if (step > 0) {
    const std::int64_t first = bound(start, 0, size);
    return x.slice(axis, first, std::max(first, bound(end, 0, size)), step);
  }
  if (size == 0) return x;
  const std::int64_t first = bound(start, 0, size - 1), last = bound(end, -1, size - 1);
  return array::index_select(x, axis, array::arange(first, std::min(first, last), step, DType::int64));
}

// Axes of input 1 or, where it is absent, all of size 1; descending.
Ints axes_to_squeeze(const Call& call, const Array& x) {
  Ints unit;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (x.size(i) == 1) unit.push_back(i);
  }
  Ints axes = call.axes(1, x.rank(), unit);
  std::ranges::sort(axes, std::greater<>());
  return axes;
}

struct Blocks {
  std::int64_t batch, channels, height, width, block;
};

Blocks read_blocks(const Call& call) {
  const Array& x = call.input(0);
  if (x.rank() != 4) fail(Fault::model, "the input has {} axes; 4 are needed", x.rank());
  const std::int64_t block = call.node.integer("blocksize", 0);
  require_in("blocksize", block, 1, 1 << 15);
  return {x.size(0), x.size(1), x.size(2), x.size(3), block};
}

}  // namespace

// 0 keeps the input's dimension (unless allowzero), -1 stands for what is left.
Outputs reshape(const Call& call) {
  const Array& x = call.input(0);
  Ints shape = call.integers(1);
  require_rank(shape.size());
  const bool zero_is_zero = call.node.integer("allowzero", 0) != 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 0 || zero_is_zero) continue;
    if (static_cast<std::int64_t>(i) >= x.rank())
      fail(Fault::model, "shape {} keeps axis {}, which the input lacks", to_string(shape), i);
    shape[i] = x.size(i);
  }
  return {x.reshape(shape)};
}

Outputs flatten(const Call& call) {
  const Array& x = call.input(0);
  // From 0 to the rank: all axes may lie in front. Counted from the end it is an axis that is there.
  const std::int64_t given = call.node.integer("axis", 1);
  const std::int64_t axis = given == x.rank() ? given : axis_in(given, std::max<std::int64_t>(1, x.rank()));
  const auto sizes = x.shape();
  const std::int64_t rows =
      std::accumulate(sizes.begin(), sizes.begin() + axis, std::int64_t{1}, std::multiplies<>());
  const std::int64_t columns =
      std::accumulate(sizes.begin() + axis, sizes.end(), std::int64_t{1}, std::multiplies<>());
  return {x.reshape({rows, columns})};
}

Outputs squeeze(const Call& call) {
  Array x = call.input(0);
  for (const auto axis : axes_to_squeeze(call, x)) {
    if (x.size(axis) != 1)
      fail(Fault::model, "axis {} has {} positions; only 1 can be squeezed", axis, x.size(axis));
    x = x.squeeze(axis);
  }
  return {x};
}

Outputs unsqueeze(const Call& call) {
  Array x = call.input(0);
  const Ints raw = call.has(1) ? call.integers(1) : call.node.integers("axes", {});
  require_rank(x.shape().size() + raw.size());
  Ints axes = call.axes(1, x.rank() + std::ssize(raw), {});
  std::ranges::sort(axes);
  for (const auto axis : axes) x = x.unsqueeze(axis);
  return {x};
}

Outputs transpose(const Call& call) {
  const Array& x = call.input(0);
  Ints reversed = all_axes(x.rank());
  std::ranges::reverse(reversed);
  return {x.permute(call.node.integers("perm", reversed))};
}

Outputs concat(const Call& call) {
  std::vector<Array> parts;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) parts.push_back(call.input(i));
  if (parts.empty()) fail(Fault::model, "there is nothing to concatenate");
  const std::int64_t axis = call.axis(0, parts[0].rank());
  for (const Array& part : parts) {
    if (part.rank() != parts[0].rank()) fail(Fault::model, "the inputs differ in their number of axes");
  }
  return {array::cat(parts, axis)};
}

Outputs split(const Call& call) {
  const Array& x = call.input(0);
  const std::int64_t axis = call.axis(0, x.rank());
  const Ints sizes = split_sizes(call, x.size(axis));
  if (sizes.size() != call.node.outputs.size()) {
    fail(Fault::model, "{} parts are to go to {} outputs", sizes.size(), call.node.outputs.size());
  }
  for (const auto size : sizes) require_in("a part", size, 0, x.size(axis));
  return {array::split(x, sizes, axis)};
}

Outputs slice(const Call& call) {
  Array x = call.input(0);
  const Ints starts = call.integers(1), ends = call.integers(2);
  const auto count = std::ssize(starts);
  if (ends.size() != starts.size()) fail(Fault::model, "{} starts and {} ends", starts.size(), ends.size());
  if (count > x.rank()) fail(Fault::model, "{} axes are to be sliced of {}", count, x.rank());
  const Ints axes = call.axes(3, x.rank(), all_axes(count));
  const Ints steps = call.has(4) ? call.integers(4) : Ints(starts.size(), 1);
  if (axes.size() != starts.size() || steps.size() != starts.size()) {
    fail(Fault::model, "{} starts, {} axes and {} steps", starts.size(), axes.size(), steps.size());
  }
  for (std::size_t i = 0; i < starts.size(); ++i) x = slice_axis(x, axes[i], starts[i], ends[i], steps[i]);
  return {x};
}

Outputs expand(const Call& call) {
  const Array& x = call.input(0);
  const Ints wanted = call.integers(1);
  require_rank(wanted.size());
  for (const auto dim : wanted) require_in("a dimension", dim, 0, std::int64_t{1} << 62);
  const Ints shape = array::broadcast_shape(x.shape(), wanted);
  check_size(shape, size_of(x.dtype()));
  return {x.expand(shape)};
}

Outputs tile(const Call& call) {
  const Array& x = call.input(0);
  const Ints repeats = call.integers(1);
  if (std::ssize(repeats) != x.rank()) {
    fail(Fault::model, "{} repeats for {} axes", repeats.size(), x.rank());
  }
  for (const auto count : repeats) require_in("a repeat", count, 0, std::int64_t{1} << 62);
  check_size(repeats, static_cast<std::uint64_t>(x.count()) * size_of(x.dtype()));
  return {array::repeat(x, repeats)};
}

// [n, c, h, w] -> [n, c / b^2, h * b, w * b]; mode DCR takes the block's position from the outer part of the
// channels, CRD from the inner.
Outputs depth_to_space(const Call& call) {
  const auto [n, c, h, w, b] = read_blocks(call);
  if (c % (b * b) != 0) fail(Fault::model, "{} channels do not divide into blocks of {}", c, b * b);
  const std::string mode = call.node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") fail(Fault::model, "mode '{}' is neither DCR nor CRD", mode);
  const std::int64_t depth = c / (b * b);
  const Array blocks = mode == "DCR"
                           ? call.input(0).reshape({n, b, b, depth, h, w}).permute({0, 3, 4, 1, 5, 2})
                           : call.input(0).reshape({n, depth, b, b, h, w}).permute({0, 1, 4, 2, 5, 3});
  return {blocks.reshape({n, depth, h * b, w * b})};
}

// The reverse, with the same modes.
Outputs space_to_depth(const Call& call) {
  const auto [n, c, h, w, b] = read_blocks(call);
  const std::string mode = call.node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") fail(Fault::model, "mode '{}' is neither DCR nor CRD", mode);
  if (h % b != 0 || w % b != 0)
    fail(Fault::model, "{} by {} positions do not divide into blocks of {}", h, w, b);
  const Array apart = call.input(0).reshape({n, c, h / b, b, w / b, b});
  const Array blocks = mode == "DCR" ? apart.permute({0, 3, 5, 1, 2, 4}) : apart.permute({0, 1, 3, 5, 2, 4});
  return {blocks.reshape({n, c * b * b, h / b, w / b})};
}

}  // namespace assay::operators
