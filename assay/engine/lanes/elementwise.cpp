// Functions of single elements, pairs of operands, normalisation with constant statistics, softmax.

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "assay/engine/lanes/operators.h"

namespace assay::lanes {
namespace {

using Ints = std::vector<std::int64_t>;

class Function : public Operation {
 public:
  Function(std::size_t operand, std::size_t result, const UnaryFunction& function, std::int64_t elements,
           bool by_ratio)
      : Operation({operand}, result), function_(function), elements_(elements), by_ratio_(by_ratio) {}
  void forward(const BatchBlock& block) const override {
    apply(function_, elements_, block.value(operand()), block.value(result()));
  }
  void backward(const BatchBlock& block, std::span<const GradientState> gradients) const override {
    if (gradients[0] == GradientState::unwanted) return;
    const float *const x = block.value(operand()), *const y = block.value(result());
    const bool add = gradients[0] == GradientState::further;
    if (by_ratio_)
      return ratio_gradients(elements_, x, y, block.gradient(result()), add, block.gradient(operand()));
    lanes::gradients(function_, elements_, x, y, block.gradient(result()), add, block.gradient(operand()));
  }

 private:
  UnaryFunction function_;
  std::int64_t elements_;
  bool by_ratio_;
};

// Two computed operands, or one and a constant.
class Pair : public Operation {
 public:
  // `trainable`: the constant, where it comes with every run. Of sums, differences and products.
  Pair(std::vector<std::size_t> operands, std::size_t result, BinaryMap map, std::vector<float> constant,
       Ints elements, ValueId trainable = no_value)
      : Operation(std::move(operands), result),
        map_(std::move(map)),
        constant_(std::move(constant)),
        elements_(std::move(elements)) {
    if (trainable == no_value) return;
    std::vector<std::int32_t> to = map_.left_constant ? map_.left_at : map_.right_at;
    const bool unique = to.empty();
    if (unique) {
      to.resize(map_.elements);
      std::iota(to.begin(), to.end(), 0);
    }
    const bool negative = map_.kind == Binary::subtract && map_.right_constant;
    trainable_.push_back(
        {.constant = trainable, .factor = negative ? -1.0F : 1.0F, .to = std::move(to), .unique = unique});
  }
  void forward(const BatchBlock& block) const override {
    apply(map_, left(block), right(block), block.value(result()));
  }
  void backward(const BatchBlock& block, std::span<const GradientState> gradients) const override {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (gradients[i] == GradientState::unwanted) continue;
      float* const to = block.gradient(operand(i));
      if (gradients[i] == GradientState::first) fill(elements_[i], 0, to);
      const bool of_left = i == 0 && !map_.left_constant;
      lanes::gradients(map_, of_left, left(block), right(block), block.gradient(result()), to);
    }
  }
  void set(std::size_t, std::span<const float> values) override {
    std::ranges::copy(values, constant_.begin());
  }
  void sum_weight_gradient(const BatchBlock& block, std::size_t, bool add, float* sums) const override {
    const float* gradients = block.gradient(result());
    if (map_.kind == Binary::multiply) {
      const BinaryMap products{.kind = Binary::multiply,
                               .elements = map_.elements,
                               .left_at = {},
                               .right_at = map_.left_constant ? map_.right_at : map_.left_at};
      apply(products, gradients, block.value(operand()), block.scratch());
      gradients = block.scratch();
    }
    element_sums(map_.elements, width, 1, 0, gradients, add, sums);
  }
  std::int64_t scratch() const override {
    return trainable_.empty() || map_.kind != Binary::multiply ? 0 : map_.elements * width;
  }

 private:
  const float* left(const BatchBlock& block) const {
    return map_.left_constant ? constant_.data() : block.value(operand(0));
  }
  const float* right(const BatchBlock& block) const {
    return map_.right_constant ? constant_.data()
                               : block.value(operand(map_.left_constant ? 0 : operands().size() - 1));
  }
  BinaryMap map_;
  std::vector<float> constant_;
  Ints elements_;  // by operand
};

class Softmax : public Operation {
 public:
  Softmax(std::size_t operand, std::size_t result, bool logarithm, AxisMap map, std::int64_t elements)
      : Operation({operand}, result), logarithm_(logarithm), map_(std::move(map)), elements_(elements) {}
  void forward(const BatchBlock& block) const override {
    softmax(map_, logarithm_, block.value(operand()), block.value(result()));
  }
  void backward(const BatchBlock& block, std::span<const GradientState> gradients) const override {
    if (gradients[0] == GradientState::unwanted) return;
    if (gradients[0] == GradientState::first) fill(elements_, 0, block.gradient(operand()));
    softmax_gradients(map_, logarithm_, block.value(result()), block.gradient(result()),
                      block.gradient(operand()));
  }

 private:
  bool logarithm_;
  AxisMap map_;
  std::int64_t elements_;
};

bool clip_bound(const Graph& graph, const Node& node, std::size_t input, float& bound) {
  if (input >= node.inputs.size() || node.inputs[input] == no_value) return true;
  if (!graph.is_constant(node.inputs[input])) return false;
  const Array& array = graph.constant(node.inputs[input]);
  if (array.dtype() != DType::float32 || array.count() != 1) return false;
  bound = array.as<float>()[0];
  return true;
}

// The power that a Pow raises to, if it is one number.
std::optional<double> power_of(const Graph& graph, const Node& node) {
  if (node.op != "Pow" || node.inputs.size() != 2 || !graph.is_constant(node.inputs[1])) return std::nullopt;
  const Array& power = graph.constant(node.inputs[1]);
  if (power.count() != 1) return std::nullopt;
  if (power.dtype() == DType::int64) return static_cast<double>(power.as<std::int64_t>()[0]);
  return power.dtype() == DType::float32 ? std::optional<double>(power.as<float>()[0]) : std::nullopt;
}

void add_pair(Compiler& compiler, Binary kind, std::size_t operand, const Shape& shape, const Array& constant,
              std::size_t result) {
  BinaryMap map{
      .kind = kind, .elements = element_count(shape), .left_at = {}, .right_at = {}, .right_constant = true};
  map.right_at = broadcast_elements(constant.shape(), shape);
  compiler.add(std::make_unique<Pair>(std::vector<std::size_t>{operand}, result, std::move(map),
                                      floats(constant), Ints{element_count(shape)}));
}

}  // namespace

std::optional<UnaryFunction> function_of(const Graph& graph, const Node& node) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto plain = [](Unary kind) { return UnaryFunction{.kind = kind}; };
  if (node.op == "Abs") return plain(Unary::absolute);
  if (node.op == "Atan") return plain(Unary::arc_tangent);
  if (node.op == "Elu") return UnaryFunction{Unary::elu, node.real("alpha", 1.0F), 0};
  if (node.op == "Erf") return plain(Unary::error);
  if (node.op == "Exp") return plain(Unary::exponential);
  if (node.op == "Gelu")
    return plain(node.text("approximate", "none") == "tanh" ? Unary::gelu_by_tanh : Unary::gelu);
  if (node.op == "HardSigmoid")
    return UnaryFunction{Unary::hard_sigmoid, node.real("alpha", 0.2F), node.real("beta", 0.5F)};
  if (node.op == "HardSwish") return plain(Unary::hard_swish);
  if (node.op == "LeakyRelu") return UnaryFunction{Unary::leaky, node.real("alpha", 0.01F), 0};
  if (node.op == "Log") return plain(Unary::logarithm);
  if (node.op == "Mish") return plain(Unary::mish);
  if (node.op == "Neg") return plain(Unary::negate);
  if (power_of(graph, node) == 2) return plain(Unary::square);
  if (power_of(graph, node) == 3) return plain(Unary::cube);
  if (node.op == "Reciprocal") return plain(Unary::reciprocal);
  if (node.op == "Relu") return plain(Unary::rectify);
  if (node.op == "Selu" && !node.has("alpha") && !node.has("gamma")) return plain(Unary::selu);
  if (node.op == "Sigmoid") return plain(Unary::sigmoid);
  if (node.op == "Softplus") return plain(Unary::softplus);
  if (node.op == "Softsign") return plain(Unary::softsign);
  if (node.op == "Sqrt") return plain(Unary::square_root);
  if (node.op == "Tanh") return plain(Unary::tanh);
  if (node.op == "Clip") {
    UnaryFunction clip{Unary::clip, -infinity, infinity};
    if (clip_bound(graph, node, 1, clip.alpha) && clip_bound(graph, node, 2, clip.beta) &&
        clip.alpha <= clip.beta)
      return clip;
  }
  if (const auto steps = quantisation_of(graph, node)) {
    const Unary kind = node.op == "QuantizeLinear" ? Unary::quantise : Unary::dequantise;
    return UnaryFunction{kind, steps->scale, steps->zero, steps->low, steps->high};
  }
  return std::nullopt;
}

std::optional<Binary> pair_of(const Node& node) {
  if (node.op == "Add") return Binary::add;
  if (node.op == "Sub") return Binary::subtract;
  if (node.op == "Mul") return Binary::multiply;
  if (node.op == "Div") return Binary::divide;
  if (node.inputs.size() != 2) return std::nullopt;
  if (node.op == "Max") return Binary::maximum;
  if (node.op == "Min") return Binary::minimum;
  return std::nullopt;
}

std::vector<std::int32_t> broadcast_elements(const Shape& operand, const Shape& result) {
  if (operand == result) return {};
  std::vector<std::int32_t> from;
  const std::size_t missing = result.size() - operand.size();
  Ints at(result.size(), 0);
  for (std::int64_t i = 0, all = element_count(result); i < all; ++i) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < operand.size(); ++d)
      element = element * operand[d] + (operand[d] == 1 ? 0 : at[d + missing]);
    from.push_back(static_cast<std::int32_t>(element));
    for (std::size_t d = result.size(); d-- > 0 && ++at[d] == result[d];) at[d] = 0;
  }
  return from;
}

bool supports_unary(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return !graph.is_constant(node.inputs[0]) && function_of(graph, node).has_value() &&
         element_count(shape_of(node.inputs[0])) == element_count(shape_of(node.outputs[0]));
}

void compile_unary(Compiler& compiler, const Node& node) {
  const std::size_t operand = compiler.slot(node.inputs[0]);
  compiler.add(std::make_unique<Function>(
      operand, compiler.define(node.outputs[0]), *function_of(compiler.graph(), node),
      element_count(compiler.shape(node.outputs[0])), compiler.passes_ratio(node.outputs[0])));
}

bool supports_binary(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (node.inputs.size() != 2 || !pair_of(node)) return false;
  const Shape& result = shape_of(node.outputs[0]);
  std::size_t constants = 0;
  for (const ValueId id : node.inputs) {
    if (!graph.is_constant(id)) {
      if (shape_of(id).size() != result.size()) return false;  // else its records would meet another axis
      continue;
    }
    ++constants;
    const Shape& shape = graph.constant(id).shape();
    if (graph.constant(id).dtype() != DType::float32 || shape.size() > result.size()) return false;
    if (shape.size() == result.size() && shape[0] != 1) return false;
  }
  return constants < 2;
}

void compile_binary(Compiler& compiler, const Node& node) {
  const Graph& graph = compiler.graph();
  const Shape result = compiler.shape(node.outputs[0]);
  BinaryMap map{.kind = *pair_of(node), .elements = element_count(result), .left_at = {}, .right_at = {}};
  map.left_constant = graph.is_constant(node.inputs[0]);
  map.right_constant = graph.is_constant(node.inputs[1]);
  std::vector<float> constant;
  ValueId trainable = no_value;
  std::vector<std::size_t> operands;
  Ints elements;
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueId id = node.inputs[i];
    const bool is_constant = graph.is_constant(id);
    const Shape shape = is_constant ? graph.constant(id).shape() : compiler.shape(id);
    (i == 0 ? map.left_at : map.right_at) = broadcast_elements(shape, result);
    if (is_constant) {
      constant = floats(graph.constant(id));
      if (compiler.is_trainable(id)) trainable = id;
    } else {
      operands.push_back(compiler.slot(id));
      elements.push_back(element_count(shape));
    }
  }
  compiler.add(std::make_unique<Pair>(std::move(operands), compiler.define(node.outputs[0]), std::move(map),
                                      std::move(constant), std::move(elements), trainable));
}

bool supports_normalisation(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  Affine affine;
  return affine_of(graph, node, affine) && std::ssize(affine.scale) == shape_of(node.inputs[0])[1];
}

void compile_normalisation(Compiler& compiler, const Node& node) {
  Affine affine;
  affine_of(compiler.graph(), node, affine);
  const Shape shape = compiler.shape(node.inputs[0]);
  Shape by_channel(shape.size(), 1);
  by_channel[1] = shape[1];
  const std::size_t operand = compiler.slot(node.inputs[0]), scaled = compiler.scratch(element_count(shape));
  add_pair(compiler, Binary::multiply, operand, shape, Array::of<float>(by_channel, affine.scale), scaled);
  add_pair(compiler, Binary::add, scaled, shape, Array::of<float>(by_channel, affine.shift),
           compiler.define(node.outputs[0]));
}

bool supports_softmax(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const auto rank = std::ssize(shape_of(node.inputs[0]));
  const std::int64_t axis = node.integer("axis", -1);
  return !graph.is_constant(node.inputs[0]) && axis != 0 && axis != -rank;
}

void compile_softmax(Compiler& compiler, const Node& node) {
  const Shape shape = compiler.shape(node.inputs[0]);
  std::int64_t axis = node.integer("axis", -1);
  if (axis < 0) axis += std::ssize(shape);
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < shape.size(); ++d) inner *= shape[d];
  const std::int64_t count = shape[axis], all = element_count(shape);
  AxisMap map{.begins = {}, .count = count, .step = inner * width};
  for (std::int64_t outer = 0; outer < all; outer += count * inner) {
    for (std::int64_t i = 0; i < inner; ++i)
      map.begins.push_back(static_cast<std::int32_t>((outer + i) * width));
  }
  const std::size_t operand = compiler.slot(node.inputs[0]);
  compiler.add(std::make_unique<Softmax>(operand, compiler.define(node.outputs[0]), node.op == "LogSoftmax",
                                         std::move(map), all));
}

}  // namespace assay::lanes
