// Axes added, dropped, put in another order, and turned around.

#include <algorithm>
#include <limits>

#include "assay/model/keras/layers/operations/operations.h"

namespace assay::keras::operations {

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
  if (const auto given = call.whole_numbers(1, {"axis"})) {
    for (const auto axis : *given) axes.push_back(call.own_axis(axis, x.rank()));
  } else {
    for (std::size_t axis = 1; axis < x.rank(); ++axis) {
      if (x.shape[axis] == 1) axes.push_back(static_cast<std::int64_t>(axis));
    }
  }
  std::sort(axes.begin(), axes.end());
  KerasTensor result = call.result(x, "Squeeze", {x.value, call.list("axes", axes)});
  reduce_shape(result.shape, axes, false);
  return {result};
}

KerasTensors reshaped(Operation& call) {
  const KerasTensor x = call.first();
  auto target = call.whole_numbers(1, {"newshape", "shape", "new_shape"});
  if (!target || target->empty()) call.layer().invalid("names no shape");
  std::int64_t size = 1;
  for (std::size_t axis = 1; axis < x.rank(); ++axis) size *= call.layer().known(x, axis);
  std::int64_t rest = 1;
  std::size_t free = 0;
  for (std::size_t i = 1; i < target->size(); ++i) {
    if ((*target)[i] < 0)
      free = free == 0 ? i : target->size();
    else
      rest *= (*target)[i];
  }
  if (free >= target->size() && target->size() > 1)
    call.layer().invalid("its shape has several unknown sizes");
  if (free > 0 && (*target)[0] < 0) {  // the batch and one more: what the record leaves for it
    if (rest == 0 || size % rest != 0)
      call.layer().invalid(fmt::format("{} elements do not fit its shape", size));
    (*target)[free] = size / rest;
    rest *= (*target)[free];
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
  KerasTensor result = call.result(x, "Transpose", {x.value}, {{"perm", *order}});
  for (std::size_t i = 0; i < order->size(); ++i)
    result.shape[i] = x.shape[static_cast<std::size_t>((*order)[i])];
  return {result};
}

KerasTensors swapped_axes(Operation& call) {
  const KerasTensor x = call.first();
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < x.rank(); ++i) order.push_back(static_cast<std::int64_t>(i));
  const auto one = call.whole_numbers(1, {"axis1"}), other = call.whole_numbers(2, {"axis2"});
  if (!one || !other || one->size() != 1 || other->size() != 1) call.layer().invalid("names no two axes");
  const auto a = static_cast<std::size_t>(call.own_axis((*one)[0], x.rank()));
  const auto b = static_cast<std::size_t>(call.own_axis((*other)[0], x.rank()));
  std::swap(order[a], order[b]);
  KerasTensor result = call.result(x, "Transpose", {x.value}, {{"perm", order}});
  std::swap(result.shape[a], result.shape[b]);
  return {result};
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
