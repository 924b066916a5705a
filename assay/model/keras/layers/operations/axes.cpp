// Axes added, dropped, put in another order, and reversed.

#include <algorithm>
#include <limits>
#include <numeric>

#include "assay/model/keras/layers/operations/operations.h"

namespace assay::keras::operations {
namespace {

// Axis i of the result is axis order[i].
KerasTensor permuted(Operation& call, const KerasTensor& x, const std::vector<std::int64_t>& order) {
  KerasTensor result = call.result(x, "Transpose", {x.value}, {{"perm", order}});
  for (std::size_t i = 0; i < order.size(); ++i) result.shape[i] = x.shape[order[i]];
  return result;
}

}  // namespace

KerasTensors expand_dims(Operation& call) {
  const KerasTensor x = call.first();
  const auto axes = call.whole_numbers(1, {"axis"});
  if (!axes || axes->size() != 1) call.layer().unsupported("several axes at once", "add one axis at a time");
  const std::int64_t axis = call.own_axis((*axes)[0], x.rank() + 1);
  KerasTensor result = call.result(x, "Unsqueeze", {x.value, call.list("axes", {axis})});
  result.shape.insert(result.shape.begin() + axis, 1);
  return {result};
}

KerasTensors squeeze(Operation& call) {
  const KerasTensor x = call.first();
  std::vector<std::int64_t> axes;
  if (call.whole_numbers(1, {"axis", "axes"})) {
    axes = call.axes(1, x);
  } else {
    for (std::size_t axis = 1; axis < x.rank(); ++axis) {
      if (x.shape[axis] == 1) axes.push_back(axis);
    }
  }
  KerasTensor result = call.result(x, "Squeeze", {x.value, call.list("axes", axes)});
  reduce_shape(result.shape, axes, false);
  return {result};
}

KerasTensors reshaped(Operation& call) {
  const KerasTensor x = call.first();
  auto target = call.whole_numbers(1, {"newshape", "shape", "new_shape"});
  if (!target || target->empty()) call.layer().invalid("names no shape");
  std::int64_t size = 1, rest = 1;
  for (std::size_t axis = 1; axis < x.rank(); ++axis) size = call.times(size, call.layer().known(x, axis));
  std::size_t free = 0;
  for (std::size_t i = 1; i < target->size(); ++i) {
    if ((*target)[i] < 0)
      free = free == 0 ? i : target->size();
    else
      rest = call.times(rest, (*target)[i]);
  }
  if (free >= target->size() && target->size() > 1)
    call.layer().invalid("its shape has several unknown sizes");
  if (free > 0 && (*target)[0] < 0) {  // the batch and one more: what the record leaves for it
    if (size % rest != 0) call.layer().invalid(fmt::format("{} elements do not fit its shape", size));
    (*target)[free] = size / rest;
    rest = call.times(rest, (*target)[free]);
  }
  if ((*target)[0] >= 0 || rest != size)
    call.layer().unsupported("a shape that mixes records", "keep the batch as the first axis");
  KerasTensor result = x.without_mask();
  std::vector<std::int64_t> shape = *target;
  shape[0] = 0;
  result = call.result(x, "Reshape", {x.value, call.list("shape", shape)});
  result.shape = *target;
  result.shape[0] = x.shape[0];
  return {result};
}

KerasTensors transposition(Operation& call) {
  const KerasTensor x = call.first();
  auto order = call.whole_numbers(1, {"axes", "perm"});
  if (!order || order->size() != x.rank()) call.layer().unsupported("reversing all axes", "name their order");
  auto sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i))
      call.layer().invalid("its order does not permute the axes");
  }
  if ((*order)[0] != 0) call.layer().unsupported("moving the batch axis", "keep the batch as the first axis");
  return {permuted(call, x, *order)};
}

// The elements of some axes moved on, those at the end to the front.
KerasTensors rolled(Operation& call) {
  KerasTensor x = call.first();
  const auto shifts = call.whole_numbers(1, {"shift"}), axes = call.whole_numbers(2, {"axis"});
  if (!axes) call.layer().unsupported("rolling all elements as one row", "name the axes");
  if (!shifts || axes->empty() || shifts->size() != axes->size())
    call.layer().invalid("names no shift for each axis");
  constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const std::int64_t axis = call.own_axis((*axes)[i], x.rank());
    const std::int64_t size = call.layer().known(x, axis);
    const std::int64_t shift = ((*shifts)[i] % size + size) % size;
    const auto part = [&](const char* name, std::int64_t from, std::int64_t to) {
      return call.step(
          "Slice", fmt::format("_{}{}", name, i),
          {x.value, call.list("starts", {from}), call.list("ends", {to}), call.list("axes", {axis})});
    };
    const ValueId back = part("back", size - shift, end), front = part("front", 0, size - shift);
    const bool last = i + 1 == axes->size();
    x.value = call.step("Concat", last ? "" : fmt::format("_rolled{}", i), {back, front}, {{"axis", axis}});
  }
  return {x};
}

KerasTensors moved_axes(Operation& call) {
  const KerasTensor x = call.first();
  const auto from = call.whole_numbers(1, {"source"}), to = call.whole_numbers(2, {"destination"});
  if (!from || !to || from->size() != to->size()) call.layer().invalid("names no place for each axis");
  std::vector<std::int64_t> order(x.rank(), -1);
  for (std::size_t i = 0; i < from->size(); ++i) {
    const std::int64_t source = call.own_axis((*from)[i], x.rank());
    std::int64_t& place = order[call.own_axis((*to)[i], x.rank())];
    if (place >= 0 || std::ranges::find(order, source) != order.end())
      call.layer().invalid("names an axis twice");
    place = source;
  }
  for (std::int64_t axis = 0; axis < std::ssize(x.shape); ++axis) {
    if (std::ranges::find(order, axis) == order.end()) *std::ranges::find(order, -1) = axis;
  }
  return {permuted(call, x, order)};
}

KerasTensors swapped_axes(Operation& call) {
  const KerasTensor x = call.first();
  std::vector<std::int64_t> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  const auto one = call.whole_numbers(1, {"axis1"}), other = call.whole_numbers(2, {"axis2"});
  if (!one || !other || one->size() != 1 || other->size() != 1) call.layer().invalid("names no two axes");
  const std::size_t a = call.own_axis((*one)[0], x.rank());
  const std::size_t b = call.own_axis((*other)[0], x.rank());
  std::swap(order[a], order[b]);
  return {permuted(call, x, order)};
}

// The elements of some axes in the opposite order.
KerasTensors flipped(Operation& call) {
  const KerasTensor x = call.first();
  const auto axes = call.axes(1, x);
  const std::vector<std::int64_t> last(axes.size(), -1),
      beyond(axes.size(), std::numeric_limits<std::int64_t>::min()), back(axes.size(), -1);
  return {call.result(x, "Slice",
                      {x.value, call.list("starts", last), call.list("ends", beyond), call.list("axes", axes),
                       call.list("steps", back)})};
}

}  // namespace assay::keras::operations
