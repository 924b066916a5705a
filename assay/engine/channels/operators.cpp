#include "assay/engine/channels/operators.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <assay/extend/operator_traits.h>
#include "assay/engine/channels/winograd.h"
#include "assay/engine/elements.h"

namespace assay::channels {
namespace {

struct Operator {
  std::string_view op;
  bool (*supports)(const Graph&, const Node&, const ShapeOf&);
  void (*compile)(Compiler&, const Node&);
};

constexpr Operator operators[] = {
    {"Abs", supports_unary, compile_unary},
    {"Add", supports_binary, compile_binary},
    {"AveragePool", supports_pooling, compile_pooling},
    {"BatchNormalization", supports_normalisation, compile_normalisation},
    {"Clip", supports_unary, compile_unary},
    {"Concat", supports_concat, compile_concat},
    {"Conv", supports_convolution, compile_convolution},
    {"ConvTranspose", supports_transposed, compile_transposed},
    {"DequantizeLinear", supports_unary, compile_unary},
    {"Div", supports_binary, compile_binary},
    {"Dropout", supports_view, compile_view},
    {"Elu", supports_unary, compile_unary},
    {"Erf", supports_unary, compile_unary},
    {"Exp", supports_unary, compile_unary},
    {"Expand", supports_repetition, compile_repetition},
    {"Flatten", supports_view, compile_view},
    {"Gather", supports_movement, compile_movement},
    {"Gelu", supports_unary, compile_unary},
    {"Gemm", supports_dense, compile_dense},
    {"GlobalAveragePool", supports_pooling, compile_pooling},
    {"GlobalMaxPool", supports_pooling, compile_pooling},
    {"HardSigmoid", supports_unary, compile_unary},
    {"HardSwish", supports_unary, compile_unary},
    {"Identity", supports_view, compile_view},
    {"IsNaN", supports_nan_replacement, compile_nan_replacement},
    {"LayerNormalization", supports_layer_normalisation, compile_layer_normalisation},
    {"LeakyRelu", supports_unary, compile_unary},
    {"LogSoftmax", supports_softmax, compile_softmax},
    {"MatMul", supports_product, compile_product},
    {"Max", supports_binary, compile_binary},
    {"MaxPool", supports_pooling, compile_pooling},
    {"Min", supports_binary, compile_binary},
    {"Mul", supports_binary, compile_binary},
    {"Neg", supports_unary, compile_unary},
    {"Pad", supports_padding, compile_padding},
    {"Pow", supports_unary, compile_unary},
    {"QuantizeLinear", supports_unary, compile_unary},
    {"Reciprocal", supports_unary, compile_unary},
    {"ReduceMean", supports_reduction, compile_reduction},
    {"ReduceSum", supports_reduction, compile_reduction},
    {"Relu", supports_unary, compile_unary},
    {"Reshape", supports_view, compile_view},
    {"Resize", supports_resize, compile_resize},
    {"Sigmoid", supports_unary, compile_unary},
    {"Slice", supports_movement, compile_movement},
    {"Softmax", supports_softmax, compile_softmax},
    {"Softplus", supports_unary, compile_unary},
    {"Split", supports_movement, compile_movement},
    {"Sqrt", supports_unary, compile_unary},
    {"Squeeze", supports_view, compile_view},
    {"Sub", supports_binary, compile_binary},
    {"Tanh", supports_unary, compile_unary},
    {"Transpose", supports_movement, compile_movement},
    {"Unsqueeze", supports_view, compile_view},
    {"Where", supports_nan_replacement, compile_nan_replacement},
};

const Operator* find(std::string_view op) {
  const auto* const it = std::ranges::lower_bound(operators, op, {}, &Operator::op);
  return it == std::end(operators) || it->op != op ? nullptr : it;
}

}  // namespace

bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Operator* const found = find(node.op);
  if (found == nullptr) return false;
  // Batches of float32 records with something in them. Offsets into the records of a run are 32 bits wide.
  constexpr std::int64_t most_elements = std::int64_t{1} << 26;
  const auto good = [&](ValueId id) {
    const Shape& shape = shape_of(id);
    return shape.size() >= 2 && shape[0] == 1 && element_count(shape) <= most_elements &&
           std::ranges::all_of(shape, [](std::int64_t d) { return d > 0; });
  };
  // Whose condition is no number, and never leaves the segment.
  if (found->supports == supports_nan_replacement)
    return good(node.inputs.back()) && supports_nan_replacement(graph, node, shape_of);
  const bool view = found->supports == supports_view || found->supports == supports_repetition;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    // The target shape of a view is not read: shapes are known.
    if (id == no_value || (view && i > 0)) continue;
    if (!graph.is_constant(id)) {
      if (!good(id)) return false;
    } else if (graph.constant(id).dtype() == DType::float32 && !has_finite_elements(graph.constant(id))) {
      return false;  // padding would make NaN of infinite weights
    }
  }
  for (std::size_t o = 1; o < node.outputs.size(); ++o) {
    if (node.op != "Split" && is_read(graph, node.outputs[o])) return false;
  }
  return good(node.outputs.at(0)) && found->supports(graph, node, shape_of);
}

void compile_node(Compiler& compiler, const Node& node) { find(node.op)->compile(compiler, node); }

double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  // Products and elements a nanosecond for each float of a vector, of a core with AVX-512.
  const double vector = lanes::lanes_of_vector();
  const double products_rate = 4.7 * vector, element_rate = 0.35 * vector;
  constexpr double call = 20;
  const auto blocks = [&](std::int64_t units) { return std::ceil(units / vector) * vector; };
  if (node.op == "IsNaN") return 0;
  const Shape &in = shape_of(node.inputs[0]), &out = shape_of(node.outputs[0]);
  const double made = element_count(out), read = element_count(in);
  // Weights that leave the second-level cache are read again for every few records.
  constexpr double most_cached = 256e3, from_memory = 0.05;
  const auto memory = [&](double weights) { return weights > most_cached ? from_memory * weights : 0; };
  if (node.op == "Conv") {
    const Array& kernel = graph.constant(node.inputs[1]);
    const Shape& weights = kernel.shape();
    const double taps = element_count(weights) / weights[0];
    const std::int64_t groups = node.integer("group", 1);
    if (weights[1] == 1 && groups == weights[0]) return call + made * taps / (0.25 * products_rate);
    const SlidingWindow window = sliding_window(node, in, out, {weights.begin() + 2, weights.end()});
    if (const auto grid = grid_of(node, window, {in.begin() + 1, in.end()}, {out.begin() + 1, out.end()}))
      return call + memory(2 * static_cast<double>(kernel.count())) + grid->products() / products_rate;
    const std::int64_t units = weights[0] / groups;
    const double results = made / units * blocks(units);
    constexpr double start = 6;  // of a run of neighbours, in products
    return call + memory(static_cast<double>(kernel.count())) +
           results * (taps + start * weights[2]) / products_rate;
  }
  if (node.op == "ConvTranspose") {
    const Shape& weights = graph.constant(node.inputs[1]).shape();
    // All taps meet each position of the operand; what the phases give is copied to its place.
    const double products =
        read * blocks(weights[1]) * static_cast<double>(element_count(weights) / (weights[0] * weights[1]));
    return call + memory(static_cast<double>(element_count(weights))) + products / products_rate +
           2 * made / element_rate;
  }
  if (node.op == "Gemm" || node.op == "MatMul") {
    const double rows = made / out.back();
    const double weights = blocks(out.back()) * in.back();
    return call + memory(weights) + rows * weights / products_rate;
  }
  if (find(node.op)->supports == supports_view || find(node.op)->supports == supports_movement) return 0;
  return call + (made + read) / element_rate;
}

}  // namespace assay::channels
