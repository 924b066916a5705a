// Functions of single elements, pairs of operands, normalisation with constant statistics.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "assay/engine/channels/functions.h"
#include "assay/engine/channels/operators.h"
#include "assay/engine/lanes/operators.h"

namespace assay::channels {
namespace {

class Function : public Operation {
 public:
  Function(Value operand, Value result, const lanes::UnaryFunction& function)
      : operand_(std::move(operand)), result_(std::move(result)), function_(function) {}
  void run(const Memory& memory, std::int64_t records) const override {
    const std::int64_t count = records * result_.count();
    const float* const from = memory.at(operand_);
    float* const to = memory.at(result_);
    // Buffers are aligned and end with a whole vector.
    if (operand_.kind == Value::Kind::buffer && operand_.offset == 0)
      return lanes::apply(function_, (count + lanes::width - 1) / lanes::width, from, to);
    std::memcpy(to, from, count * sizeof(float));
    apply_in_place({.function = function_}, count, to);
  }

 private:
  Value operand_, result_;
  lanes::UnaryFunction function_;
};

// Both lie as the gradient does, without gaps.
class FunctionGradient : public Operation {
 public:
  FunctionGradient(Value operand, Value result, Value gradient, Value to,
                   const lanes::UnaryFunction& function)
      : operand_(std::move(operand)),
        result_(std::move(result)),
        gradient_(std::move(gradient)),
        to_(std::move(to)),
        function_(function) {}
  void run(const Memory& memory, std::int64_t records) const override {
    gradients(function_, records * to_.count(), memory.at(operand_), memory.at(result_), memory.at(gradient_),
              memory.at(to_));
  }

 private:
  Value operand_, result_, gradient_, to_;
  lanes::UnaryFunction function_;
};

// The gradient goes to the greater operand, or the less one; equal operands share. All lie plainly.
class ChoiceGradient : public Operation {
 public:
  ChoiceGradient(Value operand, Value other, Value gradient, Value to, bool greater)
      : operand_(std::move(operand)),
        other_(std::move(other)),
        gradient_(std::move(gradient)),
        to_(std::move(to)),
        greater_(greater) {}
  void run(const Memory& memory, std::int64_t records) const override {
    const float *const x = memory.at(operand_), *const y = memory.at(other_), *const g = memory.at(gradient_);
    float* const to = memory.at(to_);
    for (std::int64_t i = 0, count = records * to_.count(); i < count; ++i) {
      const bool takes = greater_ ? x[i] > y[i] : x[i] < y[i];
      to[i] = x[i] == y[i] ? 0.5F * g[i] : takes ? g[i] : 0;
    }
  }

 private:
  Value operand_, other_, gradient_, to_;
  bool greater_;
};

// A number where `tested` is NaN, else what lies there in `from`. All lie alike, without gaps.
class NanReplacement : public Operation {
 public:
  NanReplacement(Value tested, Value from, Value to, float number)
      : tested_(std::move(tested)), from_(std::move(from)), to_(std::move(to)), number_(number) {}
  void run(const Memory& memory, std::int64_t records) const override {
    const float *const tested = memory.at(tested_), *const from = memory.at(from_);
    float* const to = memory.at(to_);
    for (std::int64_t i = 0, count = records * to_.count(); i < count; ++i)
      to[i] = std::isnan(tested[i]) ? number_ : from[i];
  }

 private:
  Value tested_, from_, to_;
  float number_;
};

// One side of a pair: a value, or a constant.
struct Side {
  std::optional<Value> value;
  std::vector<float> constant;
  Shape strides;            // by axis of the result; 0 where the side is broadcast
  std::int64_t record = 0;  // floats from record to record; 0: the same for all
};

class Pair : public Operation {
 public:
  struct Loop {
    PairMap map;
    Shape sizes, left, right, to;  // of the axes outside of the map
  };
  Pair(Side left, Side right, Value result, Loop loop, Finish finish)
      : left_(std::move(left)),
        right_(std::move(right)),
        result_(std::move(result)),
        loop_(std::move(loop)),
        finish_(finish) {}

  void run(const Memory& memory, std::int64_t records) const override {
    const float *const left = begin(left_, memory), *const right = begin(right_, memory);
    float* const to = memory.at(result_);
    for (std::int64_t r = 0; r < records; ++r)
      pass(0, left + r * left_.record, right + r * right_.record, to + r * result_.record);
    apply_in_place(finish_, records * result_.count(), to);
  }

 private:
  static const float* begin(const Side& side, const Memory& memory) {
    return side.value ? memory.at(*side.value) : side.constant.data();
  }
  void pass(std::size_t axis, const float* left, const float* right, float* to) const {
    if (axis == loop_.sizes.size()) return apply(loop_.map, left, right, to);
    for (std::int64_t i = 0; i < loop_.sizes[axis]; ++i)
      pass(axis + 1, left + i * loop_.left[axis], right + i * loop_.right[axis], to + i * loop_.to[axis]);
  }

  Side left_, right_;
  Value result_;
  Loop loop_;
  Finish finish_;
};

// Axes of the result from the widest step to the nearest, those that all three pass as one joined.
Pair::Loop loop_of(lanes::Binary kind, const Value& result, const Side& left, const Side& right) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < result.shape.size(); ++d) {
    if (result.shape[d] != 1) order.push_back(d);
  }
  std::ranges::sort(order,
                    [&](std::size_t a, std::size_t b) { return result.strides[a] > result.strides[b]; });
  Pair::Loop all;
  for (const std::size_t d : order) {
    const std::int64_t size = result.shape[d];
    const bool joined = !all.sizes.empty() && all.to.back() == size * result.strides[d] &&
                        all.left.back() == size * left.strides[d] &&
                        all.right.back() == size * right.strides[d];
    if (joined) {
      all.sizes.back() *= size;
      all.to.back() = result.strides[d];
      all.left.back() = left.strides[d];
      all.right.back() = right.strides[d];
    } else {
      all.sizes.push_back(size);
      all.to.push_back(result.strides[d]);
      all.left.push_back(left.strides[d]);
      all.right.push_back(right.strides[d]);
    }
  }
  const auto take = [&all](std::int64_t& size, std::int64_t& step_left, std::int64_t& step_right) {
    if (all.sizes.empty()) return;
    size = all.sizes.back();
    step_left = all.left.back();
    step_right = all.right.back();
    for (Shape* const list : {&all.sizes, &all.left, &all.right, &all.to}) list->pop_back();
  };
  all.map.kind = kind;
  take(all.map.inner, all.map.left_inner, all.map.right_inner);
  take(all.map.outer, all.map.left_outer, all.map.right_outer);
  return all;
}

// How a constant is read along the axes of a result.
Side side_of(const Array& constant, const Shape& result) {
  Side side{.value = {}, .constant = floats(constant), .strides = Shape(result.size(), 0)};
  Shape shape = constant.shape();
  while (!shape.empty() && shape.size() > result.size())
    shape.erase(shape.begin());  // the batch axis, of size 1
  const Shape steps = plain_strides(shape);
  const std::size_t missing = result.size() - shape.size();
  for (std::size_t d = 0; d < shape.size(); ++d) side.strides[d + missing] = shape[d] == 1 ? 0 : steps[d];
  return side;
}

Side side_of(const Value& value, const Shape& result) {
  Side side{.value = value, .constant = {}, .strides = value.strides, .record = value.record};
  for (std::size_t d = 0; d < result.size(); ++d) {
    if (value.shape[d] == 1) side.strides[d] = 0;
  }
  return side;
}

// Whether the innermost axis of the result is read in steps of 0 or 1 on this side.
bool is_near(const Value& result, const Side& side) {
  for (std::size_t d = 0; d < result.shape.size(); ++d) {
    if (result.shape[d] != 1 && result.strides[d] == 1) return side.strides[d] == 0 || side.strides[d] == 1;
  }
  return true;
}

// The value where it lies near enough, else arranged as the result lies.
Side nearly(Compiler& compiler, const Value& value, const Value& result) {
  Side side = side_of(value, result.shape);
  if (is_near(result, side)) return side;
  const bool last = lies_as(result, channels_last_strides(result.shape)) && result.shape.size() > 1 &&
                    !lies_as(result, plain_strides(result.shape));
  const Shape strides = last ? channels_last_strides(value.shape) : plain_strides(value.shape);
  return side_of(compiler.as(value, strides), result.shape);
}

// Whether the constant is the same for all records and broadcasts to the shape, batch axis and all.
bool broadcasts(const Shape& constant, const Shape& whole) {
  if (constant.size() > whole.size()) return false;
  const std::size_t missing = whole.size() - constant.size();
  for (std::size_t d = 0; d < constant.size(); ++d) {
    if (constant[d] != 1 && (constant[d] != whole[d + missing] || d + missing == 0)) return false;
  }
  return true;
}

// One operand of a pair: a constant, or else a value.
struct Operand {
  const Array* constant = nullptr;
  const Value* value = nullptr;
};
using Operands = std::array<Operand, 2>;

// Strides of the result of a pair: those of an operand of its shape that leaves no gaps.
Shape strides_of(const Shape& shape, const Operands& operands) {
  for (const Operand& operand : operands) {
    if (operand.constant == nullptr && operand.value->shape == shape && is_dense(*operand.value))
      return operand.value->strides;
  }
  return plain_strides(shape);
}

Side side_of(Compiler& compiler, const Operand& operand, const Value& result) {
  if (operand.constant == nullptr) return nearly(compiler, *operand.value, result);
  Side side = side_of(*operand.constant, result.shape);
  if (is_near(result, side)) return side;
  // It is read across: as the result lies, with all its elements.
  const Value from{.shape = result.shape, .strides = side.strides},
      to{.shape = result.shape, .strides = result.strides};
  std::vector<float> arranged(result.count());
  arrange(from, side.constant.data(), to, arranged.data());
  return {.value = {}, .constant = std::move(arranged), .strides = result.strides};
}

void add_pair(Compiler& compiler, lanes::Binary kind, const Operands& operands, const Value& result,
              const Finish& finish) {
  Side left = side_of(compiler, operands[0], result), right = side_of(compiler, operands[1], result);
  Pair::Loop loop = loop_of(kind, result, left, right);
  compiler.add(std::make_unique<Pair>(std::move(left), std::move(right), result, std::move(loop), finish));
}

Operand operand_of(const Value& value) { return {nullptr, &value}; }

// Of two operands; the result lies as the first one does, if that leaves no gaps.
Value paired(Compiler& compiler, lanes::Binary kind, const Operands& operands, const Shape& shape) {
  Value result = compiler.temporary(shape, strides_of(shape, operands));
  add_pair(compiler, kind, operands, result, {});
  return result;
}

Value negated(Compiler& compiler, const Value& value) {
  const Array minus = Array::of<float>({}, std::vector{-1.0F});
  return paired(compiler, lanes::Binary::multiply, {operand_of(value), {&minus, nullptr}}, value.shape);
}

// The operand with all elements of the result, plainly.
Value spread(Compiler& compiler, const Operand& operand, const Shape& shape) {
  Value result = compiler.temporary(shape, plain_strides(shape));
  const Array one = Array::of<float>({}, std::vector{1.0F});
  add_pair(compiler, lanes::Binary::multiply, {operand, {&one, nullptr}}, result, {});
  return result;
}

// What an operand, the first one or the second, gets of the gradient.
Value part_of_gradient(Compiler& compiler, lanes::Binary kind, std::size_t which, const Operands& operands,
                       const Value& result, const Value& gradient) {
  using lanes::Binary;
  const Operand given = operand_of(gradient);
  const Shape& shape = gradient.shape;
  switch (kind) {
    case Binary::add:
      return gradient;
    case Binary::subtract:
      return which == 0 ? gradient : negated(compiler, gradient);
    case Binary::multiply:
      return paired(compiler, kind, {given, operands[1 - which]}, shape);
    case Binary::divide: {
      Value part = paired(compiler, kind, {given, operands[1]}, shape);
      if (which == 0) return part;
      return negated(compiler,
                     paired(compiler, Binary::multiply, {operand_of(part), operand_of(result)}, shape));
    }
    case Binary::maximum:
    case Binary::minimum: {
      const Value own = spread(compiler, operands[which], shape),
                  other = spread(compiler, operands[1 - which], shape),
                  plain = compiler.as(gradient, plain_strides(shape));
      Value part = compiler.temporary(shape, plain.strides);
      compiler.add(std::make_unique<ChoiceGradient>(own, other, plain, part, kind == Binary::maximum));
      return part;
    }
  }
  return gradient;
}

}  // namespace

Value through_function(Compiler& compiler, const lanes::UnaryFunction& function, const Value& operand,
                       const Value& result, const Value& gradient) {
  const Value given = compiler.as(gradient, result.strides);
  Value passed = compiler.temporary(result.shape, result.strides);
  compiler.add(std::make_unique<FunctionGradient>(operand, result, given, passed, function));
  return passed;
}

bool is_told_by_result(const lanes::UnaryFunction& function) {
  using lanes::Unary;
  switch (function.kind) {
    case Unary::exponential:
    case Unary::hard_sigmoid:
    case Unary::reciprocal:
    case Unary::rectify:
    case Unary::sigmoid:
    case Unary::square_root:
    case Unary::tanh:
      return true;
    case Unary::leaky:
      return function.alpha >= 0;
    default:
      return false;
  }
}

void gradients(const lanes::UnaryFunction& function, std::int64_t count, const float* operand,
               const float* result, const float* gradient, float* to) {
  constexpr std::int64_t together = 512;
  alignas(64) float x[together] = {}, y[together] = {}, g[together] = {};
  for (std::int64_t i = 0; i < count; i += together) {
    const std::int64_t some = std::min(together, count - i);
    const auto bytes = some * sizeof(float);
    std::memcpy(x, operand + i, bytes);
    std::memcpy(y, result + i, bytes);
    std::memcpy(g, gradient + i, bytes);
    lanes::gradients(function, (some + lanes::width - 1) / lanes::width, x, y, g, false, g);
    std::memcpy(to + i, g, bytes);
  }
}

void apply_in_place(const Finish& finish, std::int64_t count, float* numbers) {
  if (!finish.function) return;
  const auto apply =
      finish.gates ? lanes::apply_gate : static_cast<decltype(&lanes::apply_gate)>(lanes::apply);
  // Of what lies elsewhere, and of the rest of a vector, a copy: what lies behind may be finished already.
  const bool aligned = reinterpret_cast<std::uintptr_t>(numbers) % 64 == 0;
  const std::int64_t whole = aligned ? count / lanes::width : 0;
  if (whole > 0) apply(*finish.function, whole, numbers, numbers);
  constexpr std::int64_t together = 512;
  alignas(64) float some[together] = {};
  for (std::int64_t i = whole * lanes::width; i < count; i += together) {
    const std::int64_t live = std::min(together, count - i);
    std::copy_n(numbers + i, live, some);
    apply(*finish.function, (live + lanes::width - 1) / lanes::width, some, some);
    std::copy_n(some, live, numbers + i);
  }
}

bool supports_unary(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return !graph.is_constant(node.inputs[0]) && lanes::function_of(graph, node).has_value() &&
         shape_of(node.inputs[0]) == shape_of(node.outputs[0]);
}

void compile_unary(Compiler& compiler, const Node& node) {
  const Value& given = compiler.value(node.inputs[0]);
  const Value operand = is_dense(given) ? given : compiler.plainly(node.inputs[0]);
  const Value result = compiler.fresh(operand.shape, operand.strides);
  lanes::UnaryFunction function = *lanes::function_of(compiler.graph(), node);
  const ValueId made = compiler.absorb_dequantisation(node.outputs[0], function);
  compiler.add(std::make_unique<Function>(operand, result, function));
  compiler.define(made, result);
  const Value& kept = is_told_by_result(function) ? result : operand;
  compiler.on_way_back(made, {kept, result}, [=, &compiler, in = node.inputs[0]](const Value& g) {
    compiler.contribute(in, through_function(compiler, function, kept, result, g));
  });
}

float nan_replacement(const Graph& graph, const Node& choice) {
  return floats(graph.constant(choice.inputs[1]))[0];
}

// Of both nodes, IsNaN and Where: the second one does it all.
bool supports_nan_replacement(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (node.op == "IsNaN") {
    const auto readers = graph.consumers(node.outputs[0]);
    return readers.size() == 1 && supports_nan_replacement(graph, graph.node(readers[0]), shape_of);
  }
  return nan_test_of(graph, node) && is_float_constant(graph, node, 1) &&
         graph.constant(node.inputs[1]).count() == 1 && shape_of(node.inputs[2]) == shape_of(node.outputs[0]);
}

void compile_nan_replacement(Compiler& compiler, const Node& node) {
  if (node.op == "IsNaN") return;
  const ValueId in = node.inputs[2];
  const float number = nan_replacement(compiler.graph(), node);
  const Value& given = compiler.value(in);
  const Value operand = is_dense(given) ? given : compiler.plainly(in);
  // In place where only these two nodes read the operand; the way back reads it as it was.
  const bool in_place = compiler.is_held_once(given) && compiler.graph().consumers(in).size() == 2 &&
                        !compiler.carries_gradient(in);
  const Value result = in_place ? operand : compiler.fresh(operand.shape, operand.strides);
  compiler.add(std::make_unique<NanReplacement>(operand, operand, result, number));
  compiler.define(node.outputs[0], result);
  compiler.on_way_back(node.outputs[0], {operand}, [=, &compiler](const Value& gradient) {
    const Value of_result = compiler.as(gradient, operand.strides),
                part = compiler.temporary(operand.shape, operand.strides);
    compiler.add(std::make_unique<NanReplacement>(operand, of_result, part, 0));
    compiler.contribute(in, part);
  });
}

bool supports_binary(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (!lanes::pair_of(node) || node.inputs.size() != 2) return false;
  const Shape& result = shape_of(node.outputs[0]);
  bool computed = false;
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueId id = node.inputs[i];
    if (graph.is_constant(id)) {
      if (!is_float_constant(graph, node, i) || !broadcasts(graph.constant(id).shape(), result)) return false;
    } else {
      computed = true;
      if (shape_of(id).size() != result.size()) return false;
    }
  }
  return computed;
}

void compile_binary(Compiler& compiler, const Node& node) {
  const std::vector<ValueId> inputs = node.inputs;
  std::vector<Value> values(2);
  std::vector<const Array*> constants(2);
  for (std::size_t i = 0; i < 2; ++i) {
    if (compiler.graph().is_constant(inputs[i]))
      constants[i] = &compiler.graph().constant(inputs[i]);
    else
      values[i] = compiler.value(inputs[i]);
  }
  const auto operands_of = [constants](const std::vector<Value>& given) {
    return Operands{{{constants[0], &given[0]}, {constants[1], &given[1]}}};
  };
  const Shape shape = compiler.shape(node.outputs[0]);
  const Value result = compiler.fresh(shape, strides_of(shape, operands_of(values)));
  Finish finish;
  const ValueId id = compiler.absorb_function(node.outputs[0], finish);
  const lanes::Binary kind = *lanes::pair_of(node);
  add_pair(compiler, kind, operands_of(values), result, finish);
  compiler.define(id, result);
  std::vector<Value> kept;
  const bool sum = kind == lanes::Binary::add || kind == lanes::Binary::subtract;
  for (std::size_t i = 0; i < 2 && !sum; ++i) {
    if (constants[i] == nullptr) kept.push_back(values[i]);
  }
  if (finish.function || kind == lanes::Binary::divide) kept.push_back(result);
  compiler.on_way_back(id, kept, [=, &compiler](const Value& given) {
    const Value g =
        finish.function ? through_function(compiler, *finish.function, result, result, given) : given;
    for (std::size_t i = 0; i < 2; ++i) {
      if (compiler.carries_gradient(inputs[i]))
        compiler.contribute(inputs[i], part_of_gradient(compiler, kind, i, operands_of(values), result, g));
    }
  });
}

bool supports_normalisation(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  Affine affine;
  return affine_of(graph, node, affine) && std::ssize(affine.scale) == shape_of(node.inputs[0])[1];
}

void compile_normalisation(Compiler& compiler, const Node& node) {
  Affine affine;
  affine_of(compiler.graph(), node, affine);
  const Value& operand = compiler.value(node.inputs[0]);
  Shape shape(operand.shape.size(), 1);
  shape[0] = operand.shape[0];
  const Array scale = Array::of<float>(shape, affine.scale), shift = Array::of<float>(shape, affine.shift);
  const Operands product{{{&scale, nullptr}, {nullptr, &operand}}};
  const Shape strides = strides_of(operand.shape, product);
  const Value scaled = compiler.temporary(operand.shape, strides),
              result = compiler.fresh(operand.shape, strides);
  Finish finish;
  const ValueId id = compiler.absorb_function(node.outputs[0], finish);
  add_pair(compiler, lanes::Binary::multiply, product, scaled, {});
  add_pair(compiler, lanes::Binary::add, {{{&shift, nullptr}, {nullptr, &scaled}}}, result, finish);
  compiler.define(id, result);
  std::vector<Value> kept;
  if (finish.function) kept.push_back(result);
  compiler.on_way_back(id, kept, [=, &compiler, in = node.inputs[0]](const Value& given) {
    const Value g =
        finish.function ? through_function(compiler, *finish.function, result, result, given) : given;
    compiler.contribute(
        in, paired(compiler, lanes::Binary::multiply, {operand_of(g), {&scale, nullptr}}, g.shape));
  });
}

}  // namespace assay::channels
