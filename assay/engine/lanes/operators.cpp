#include "assay/engine/lanes/operators.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include <assay/extend/operator_traits.h>

namespace assay::lanes {
namespace {

struct Operator {
  std::string_view op;
  bool (*supports)(const Graph&, const Node&, const ShapeOf&);
  void (*compile)(Compiler&, const Node&);
  bool trains = false;
};

constexpr Operator operators[] = {
    {"Abs", supports_unary, compile_unary},
    {"Add", supports_binary, compile_binary, true},
    {"Atan", supports_unary, compile_unary},
    {"AveragePool", supports_pooling, compile_pooling},
    {"BatchNormalization", supports_normalisation, compile_normalisation},
    {"Clip", supports_unary, compile_unary},
    {"Concat", supports_concat, compile_concat},
    {"Conv", supports_convolution, compile_convolution, true},
    {"ConvTranspose", supports_transposed, compile_transposed, true},
    {"DequantizeLinear", supports_unary, compile_unary},
    {"Div", supports_binary, compile_binary},
    {"Dropout", supports_view, compile_view},
    {"Elu", supports_unary, compile_unary},
    {"Erf", supports_unary, compile_unary},
    {"Exp", supports_unary, compile_unary},
    {"Flatten", supports_view, compile_view},
    {"Gather", supports_movement, compile_movement},
    {"Gelu", supports_unary, compile_unary},
    {"Gemm", supports_dense, compile_dense, true},
    {"GlobalAveragePool", supports_pooling, compile_pooling},
    {"GlobalMaxPool", supports_pooling, compile_pooling},
    {"GroupNormalization", supports_own_normalisation, compile_own_normalisation, true},
    {"HardSigmoid", supports_unary, compile_unary},
    {"HardSwish", supports_unary, compile_unary},
    {"Identity", supports_view, compile_view},
    {"InstanceNormalization", supports_own_normalisation, compile_own_normalisation, true},
    {"LayerNormalization", supports_own_normalisation, compile_own_normalisation, true},
    {"LeakyRelu", supports_unary, compile_unary},
    {"Log", supports_unary, compile_unary},
    {"LogSoftmax", supports_softmax, compile_softmax},
    {"MatMul", supports_matmul, compile_matmul, true},
    {"Max", supports_binary, compile_binary},
    {"MaxPool", supports_pooling, compile_pooling},
    {"Min", supports_binary, compile_binary},
    {"Mish", supports_unary, compile_unary},
    {"Mul", supports_binary, compile_binary, true},
    {"Neg", supports_unary, compile_unary},
    {"Pad", supports_movement, compile_movement},
    {"Pow", supports_unary, compile_unary},
    {"QuantizeLinear", supports_unary, compile_unary},
    {"Reciprocal", supports_unary, compile_unary},
    {"ReduceMax", supports_reduction, compile_reduction},
    {"ReduceMean", supports_reduction, compile_reduction},
    {"ReduceSum", supports_reduction, compile_reduction},
    {"Relu", supports_unary, compile_unary},
    {"Reshape", supports_view, compile_view},
    {"Selu", supports_unary, compile_unary},
    {"Sigmoid", supports_unary, compile_unary},
    {"Slice", supports_movement, compile_movement},
    {"Softmax", supports_softmax, compile_softmax},
    {"Softplus", supports_unary, compile_unary},
    {"Softsign", supports_unary, compile_unary},
    {"Split", supports_movement, compile_movement},
    {"Sqrt", supports_unary, compile_unary},
    {"Squeeze", supports_view, compile_view},
    {"Sub", supports_binary, compile_binary, true},
    {"Tanh", supports_unary, compile_unary},
    {"Transpose", supports_movement, compile_movement},
    {"Unsqueeze", supports_view, compile_view},
    {"Where", supports_choice, compile_choice},
};

const Operator* find(std::string_view op) {
  const auto* const it = std::ranges::lower_bound(operators, op, {}, &Operator::op);
  return it == std::end(operators) || it->op != op ? nullptr : it;
}

}  // namespace

bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Operator* const found = find(node.op);
  if (found == nullptr) return false;
  // Batches of float32 records with something in them. Values of a batch block stay below 16 MiB: larger ones
  // leave every cache, and offsets into them are 32 bits wide.
  constexpr std::int64_t most_elements = std::int64_t{1} << 18;
  const auto good = [&](ValueId id) {
    const Shape& shape = shape_of(id);
    return shape.size() >= 2 && shape[0] == 1 && element_count(shape) <= most_elements &&
           std::ranges::all_of(shape, [](std::int64_t d) { return d > 0; });
  };
  const bool view = found->supports == supports_view;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    // Weights are found by 32 bits.
    if (id != no_value && graph.is_constant(id) &&
        graph.constant(id).count() > std::numeric_limits<std::int32_t>::max())
      return false;
    // The target shape of a view is not read: shapes are known.
    if (id == no_value || graph.is_constant(id) || (view && i > 0)) continue;
    if (!good(id)) return false;
  }
  for (std::size_t o = 1; o < node.outputs.size(); ++o) {
    if (node.op != "Split" && is_read(graph, node.outputs[o])) return false;
  }
  return good(node.outputs.at(0)) && found->supports(graph, node, shape_of);
}

bool trains(const Node& node) { return find(node.op)->trains; }

void compile_node(Compiler& compiler, const Node& node) { find(node.op)->compile(compiler, node); }

double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  // Products and elements a nanosecond for each float of a vector, measured with bench_engine and
  // bench_operators: narrower vectors than those of AVX-512 have half as many registers, which dense layers
  // feel.
  const double lanes = lanes_of_vector();
  const double products_rate = (lanes >= 16 ? 4.25 : 4.7) * lanes,
               dense_rate = (lanes >= 16 ? 4.25 : 3.8) * lanes, element_rate = 0.5 * lanes;
  const double made = element_count(shape_of(node.outputs[0]));
  const double read = element_count(shape_of(node.inputs[0]));
  const OperatorKind kind = traits_of(node.op)->kind;
  // Values of a batch block that leave the second-level cache are written to memory and read from it; what
  // goes over them several times, or reads them with the weights of a large layer, waits longer.
  constexpr double most_cached = 20e3, from_memory = 0.4, from_memory_again = 1.5;
  double uncached = 0;
  const bool absorbed = node.op == "Relu";  // most often, by what computes its operand
  for (const double elements : {made, read}) uncached += elements > most_cached && !absorbed ? elements : 0;
  if (kind == OperatorKind::convolution)
    return products_of_convolution(graph, node, shape_of) / products_rate + from_memory * uncached;
  if (kind == OperatorKind::dense)
    return made * static_cast<double>(shape_of(node.inputs[0]).back()) / dense_rate +
           from_memory_again * uncached;
  if (find(node.op)->supports == supports_view) return 0;
  const bool along_axis =
      find(node.op)->supports == supports_softmax || find(node.op)->supports == supports_own_normalisation;
  return (made + read) / element_rate + (along_axis ? from_memory_again : from_memory) * uncached;
}

}  // namespace assay::lanes
