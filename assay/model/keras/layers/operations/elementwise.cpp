// Arithmetic, comparisons and functions of single elements.

#include <nlohmann/json.hpp>

#include <string_view>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/operations/operations.h"
#include "assay/model/keras/layers/operations/pair.h"

namespace assay::keras::operations {
namespace {

Pair operands(Operation& call) {
  return {call, call.operand(0, {"x1", "x", "a"}), call.operand(1, {"x2", "y", "b", "bias"})};
}

// As many numbers as the argument has, all the same.
KerasTensors filled_like(Operation& call, float value) {
  const KerasTensor x = call.tensor(0, {"x", "input"});
  KerasTensor result = call.result(x, "ConstantOfShape", {call.step("Shape", "_shape", {x.value})},
                                   {{"value", Array::of<float>({1}, std::vector<float>{value})}});
  result.dtype = DType::float32;
  return {result};
}

}  // namespace

KerasTensors arithmetic(Operation& call, const char* op) {
  Pair pair = operands(call);
  if (op == std::string_view("Div") || op == std::string_view("Pow")) pair.make_real();
  KerasTensor result = call.result(pair.like(), op, {pair.left(), pair.right()});
  result.dtype = pair.type();
  return {result};
}

KerasTensors comparison(Operation& call, const char* op) {
  const Pair pair = operands(call);
  KerasTensor result = pair.like();
  if (op == std::string_view("Not")) {  // not equal
    result = call.result(pair.like(), "Not", {call.step("Equal", "_equal", {pair.left(), pair.right()})});
  } else {
    result = call.result(pair.like(), op, {pair.left(), pair.right()});
  }
  result.dtype = DType::boolean;
  return {result};
}

KerasTensors squared_difference(Operation& call) {
  const Pair pair = operands(call);
  const ValueId difference = call.step("Sub", "_difference", {pair.left(), pair.right()});
  return {call.result(pair.like(), "Mul", {difference, difference})};
}

// A function of one tensor, element by element, in any layout.
KerasTensors elementwise(Operation& call, const char* op) {
  const KerasTensor x = call.tensor(0, {"x", "input", "features"});
  return {call.result(x, op, {x.value})};
}

KerasTensors square(Operation& call) {
  const KerasTensor x = call.tensor(0, {"x"});
  return {call.result(x, "Mul", {x.value, x.value})};
}

KerasTensors reciprocal_root(Operation& call) {
  const KerasTensor x = call.tensor(0, {"x"});
  return {call.result(x, "Reciprocal", {call.step("Sqrt", "_root", {x.value})})};
}

// log(x + 1) and exp(x) - 1
KerasTensors beside_one(Operation& call, const char* op) {
  const KerasTensor x = call.tensor(0, {"x"});
  const ValueId one = call.layer().constant("one", scalar(1));
  if (op == std::string_view("Log"))
    return {call.result(x, "Log", {call.step("Add", "_more", {x.value, one})})};
  return {call.result(x, "Sub", {call.step("Exp", "_exp", {x.value}), one})};
}

KerasTensors clipped(Operation& call) {
  const KerasTensor x = call.tensor(0, {"x", "t"});
  const auto low = static_cast<float>(call.number(1, {"x_min", "clip_value_min"}, 0));
  const auto high = static_cast<float>(call.number(2, {"x_max", "clip_value_max"}, 0));
  return {call.result(
      x, "Clip",
      {x.value, call.layer().constant("min", scalar(low)), call.layer().constant("max", scalar(high))})};
}

KerasTensors choice(Operation& call) {
  KerasTensor condition = call.layer().as_keras(call.tensor(0, {"condition"}));
  Operand a = call.operand(1, {"x1", "x"}), b = call.operand(2, {"x2", "y"});
  LayerBuilder& layer = call.layer();
  if (condition.dtype != DType::boolean)
    condition.value = call.step("Cast", "_truth", {condition.value}, {{"to", truth_type}});
  Shape shape = condition.shape;
  std::vector<ValueId> values{condition.value};
  for (Operand* side : {&a, &b}) {
    const std::string name = side == &a ? "then" : "else";
    shape = broadcast_shape(layer, shape, side->shape());
    if (side->constant) {
      values.push_back(layer.constant(name, side->array.to(DType::float32)));
    } else {
      const KerasTensor x = layer.as_keras(side->tensor);
      values.push_back(x.dtype == DType::float32
                           ? x.value
                           : call.step("Cast", "_" + name, {x.value}, {{"to", real_type}}));
    }
  }
  KerasTensor result = call.result(condition, "Where", values);
  result.shape = shape;
  result.dtype = DType::float32;
  return {result};
}

KerasTensors cast(Operation& call) {
  const KerasTensor x = call.tensor(0, {"x"});
  const json& named = Operation::bare(call.argument(1, {"dtype"}));
  const std::string type = named.is_string() ? named.get<std::string>() : "float32";
  KerasTensor result = x.without_mask();
  if (type.starts_with("float") || type.starts_with("bfloat")) {
    result = call.result(x, "Cast", {x.value}, {{"to", real_type}});
    result.dtype = DType::float32;
  } else if (type == "bool") {
    result = call.result(x, "Cast", {x.value}, {{"to", truth_type}});
    result.dtype = DType::boolean;
  } else if (type.find("int") != std::string::npos) {
    result = call.result(x, "Cast", {x.value}, {{"to", whole_type}});
    result.dtype = DType::int64;
  } else {
    call.layer().unsupported(fmt::format("type '{}'", type), "use numbers");
  }
  return {result};
}

KerasTensors zeros_like(Operation& call) { return filled_like(call, 0); }

KerasTensors ones_like(Operation& call) { return filled_like(call, 1); }

KerasTensors one_hot(Operation& call) {
  KerasTensor x = call.first();
  const auto classes = call.whole_numbers(1, {"num_classes", "depth"});
  if (!classes || classes->size() != 1 || (*classes)[0] < 1)
    call.layer().invalid("does not give the number of classes");
  if (call.number(2, {"axis"}, -1) != -1) call.layer().unsupported("an axis other than the last", "use -1");
  if (x.dtype != DType::int64) x.value = call.step("Cast", "_numbers", {x.value}, {{"to", whole_type}});
  const ValueId values = call.layer().constant("off_on", Array::of(Shape{2}, std::vector<float>{0, 1}));
  KerasTensor result =
      call.result(x, "OneHot", {x.value, call.list("depth", *classes), values}, {{"axis", std::int64_t{-1}}});
  result.shape.push_back((*classes)[0]);
  result.dtype = DType::float32;
  return {result};
}

}  // namespace assay::keras::operations
