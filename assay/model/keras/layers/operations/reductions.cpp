// Results of sums, extremes and spreads along axes.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/operations/operations.h"

namespace assay::keras::operations {
namespace {

// Applies `op` to the elements along these axes.
KerasTensors reduced(Operation& call, const char* op, KerasTensor x, const std::vector<std::int64_t>& axes,
                     bool keep) {
  if (x.layout == Layout::flattened) x = call.layer().as_keras(x);
  // Positions that go, or axes that stay as 1, leave the layout as it is.
  const bool channel_goes = std::ranges::find(axes, std::ssize(x.shape) - 1) != axes.end();
  if (!keep && (channel_goes || x.rank() - axes.size() < 3)) x = call.layer().as_keras(x);
  if (!keep && x.layout == Layout::channels_first) x = call.layer().as_keras(x);
  std::vector<std::int64_t> stored;
  for (const auto axis : axes) stored.push_back(stored_axis(x, axis));
  const bool truth = op == std::string_view("any") || op == std::string_view("all");
  ValueId value = x.value;
  if (x.dtype == DType::boolean) {
    const std::int64_t type = op == std::string_view("ReduceMean") ? real_type : whole_type;
    value = call.step("Cast", "_numbers", {value}, {{"to", type}});
  } else if (truth) {
    call.layer().invalid("its input holds no truth values");
  }
  const std::map<std::string, Attribute> attributes{{"keepdims", std::int64_t{keep}}};
  const ValueId list = call.list("axes", stored);
  KerasTensor result = x.without_mask();
  if (truth) {
    const char* kind = op == std::string_view("any") ? "ReduceMax" : "ReduceMin";
    const ValueId reduced = call.step(kind, "_reduced", {value, list}, attributes);
    result = call.result(x, "Cast", {reduced}, {{"to", truth_type}});
  } else {
    result = call.result(x, op, {value, list}, attributes);
    if (x.dtype == DType::boolean) result.dtype = DType::int64;
    if (op == std::string_view("ReduceMean")) result.dtype = DType::float32;
  }
  reduce_shape(result.shape, axes, keep);
  return {result};
}

// The mean of the squared deviations from the mean, and its root.
KerasTensors spread(Operation& call, bool root) {
  const KerasTensor x = call.first();
  const auto axes = call.axes(1, x);
  const bool keep = call.flag(2, {"keepdims"}, false);
  const ValueId list = call.list("axes", axes);
  const ValueId beside =
      call.step("Sub", "_beside", {x.value, call.step("ReduceMean", "_mean", {x.value, list})});
  const ValueId square = call.step("Mul", "_square", {beside, beside});
  const std::map<std::string, Attribute> attributes{{"keepdims", std::int64_t{keep}}};
  KerasTensor result = x;
  if (root)
    result = call.result(x, "Sqrt", {call.step("ReduceMean", "_variance", {square, list}, attributes)});
  else
    result = call.result(x, "ReduceMean", {square, list}, attributes);
  reduce_shape(result.shape, axes, keep);
  return {result};
}

}  // namespace

KerasTensors reduction(Operation& call, const char* op) {
  const KerasTensor x = call.tensor(0, {"x", "input_tensor", "input"});
  return reduced(call, op, x, call.axes(1, x), call.flag(2, {"keepdims", "keep_dims"}, false));
}

// The length of vectors, or of matrices as lists of their elements.
KerasTensors norm(Operation& call) {
  const KerasTensor x = call.tensor(0, {"x", "tensor"});
  const auto axes = call.axes(2, x);
  const json& order = call.argument(1, {"ord"});
  const auto is = [&](const char* name) { return order.is_string() && order.get<std::string>() == name; };
  const bool euclidean = order.is_null() || is("euclidean") || (axes.size() == 2 && is("fro"));
  const bool vectors = axes.size() == 1;
  const bool squares = euclidean || (vectors && order.is_number() && order.get<double>() == 2);
  if (!squares && !(vectors && order.is_number() && order.get<double>() == 1))
    call.layer().unsupported("a norm of this order", "use the euclidean norm, or order 1 of vectors");
  return reduced(call, squares ? "ReduceL2" : "ReduceL1", x, axes, call.flag(3, {"keepdims"}, false));
}

KerasTensors arg_extreme(Operation& call, const char* op) {
  const KerasTensor x = call.first();
  const std::int64_t own = call.one_axis(1, x.rank());
  const bool keep = call.flag(2, {"keepdims"}, false);
  KerasTensor result = call.result(x, op, {x.value}, {{"axis", own}, {"keepdims", std::int64_t{keep}}});
  result.dtype = DType::int64;
  reduce_shape(result.shape, {own}, keep);
  return {result};
}

KerasTensors variance(Operation& call) { return spread(call, false); }

KerasTensors deviation(Operation& call) { return spread(call, true); }

// x / |x| along an axis (tf.math.l2_normalize, keras.ops.normalize of order 2)
KerasTensors unit_length(Operation& call) {
  const KerasTensor x = call.first();
  const auto axes = call.whole_numbers(1, {"axis"});
  if (call.number(2, {"order"}, 2) != 2 && call.name() == "normalize")
    call.layer().unsupported("an order other than 2", "use order 2");
  const std::int64_t axis = call.own_axis(axes && axes->size() == 1 ? (*axes)[0] : -1, x.rank());
  const ValueId sum = call.step("ReduceSum", "_sum",
                                {call.step("Mul", "_square", {x.value, x.value}), call.list("axes", {axis})});
  const ValueId least = call.layer().constant("least", scalar(1e-12F));
  const ValueId length = call.step("Sqrt", "_length", {call.step("Max", "_above", {sum, least})});
  return {call.result(x, "Div", {x.value, length})};
}

KerasTensors summed_so_far(Operation& call) {
  const KerasTensor x = call.first();
  const std::int64_t axis = call.one_axis(1, x.rank());
  return {call.result(
      x, "CumSum",
      {x.value, call.layer().constant("axis", Array::of(Shape{}, std::vector<std::int64_t>{axis}))})};
}

}  // namespace assay::keras::operations
