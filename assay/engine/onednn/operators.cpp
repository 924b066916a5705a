#include "assay/engine/onednn/operators.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <assay/extend/operator_traits.h>

#include "assay/engine/lanes/kernels.h"
#include "assay/engine/onednn/families.h"

namespace assay::onednn {
namespace {

struct Operator {
  std::string_view op;
  bool (*supports)(const Graph&, const Node&, const ShapeOf&);
  void (*compile)(Compiler&, const Node&);
};

constexpr Operator operators[] = {
    {"Add", supports_binary, compile_binary},
    {"AveragePool", supports_pooling, compile_pooling},
    {"BatchNormalization", supports_normalisation, compile_normalisation},
    {"Clip", supports_eltwise, compile_eltwise},
    {"Concat", supports_concat, compile_concat},
    {"Conv", supports_convolution, compile_convolution},
    {"Dropout", supports_view, compile_view},
    {"Elu", supports_eltwise, compile_eltwise},
    {"Flatten", supports_view, compile_view},
    {"Gemm", supports_dense, compile_dense},
    {"GlobalAveragePool", supports_pooling, compile_pooling},
    {"GlobalMaxPool", supports_pooling, compile_pooling},
    {"HardSwish", supports_eltwise, compile_eltwise},
    {"Identity", supports_view, compile_view},
    {"LeakyRelu", supports_eltwise, compile_eltwise},
    {"MatMul", supports_dense, compile_dense},
    {"MaxPool", supports_pooling, compile_pooling},
    {"Mul", supports_binary, compile_binary},
    {"Relu", supports_eltwise, compile_eltwise},
    {"Reshape", supports_view, compile_view},
    {"Sigmoid", supports_eltwise, compile_eltwise},
    {"Softmax", supports_softmax, compile_softmax},
    {"Sub", supports_binary, compile_binary},
    {"Tanh", supports_eltwise, compile_eltwise},
};

const Operator* find(std::string_view op) {
  const auto* it =
      std::find_if(std::begin(operators), std::end(operators), [&](const Operator& o) { return o.op == op; });
  return it == std::end(operators) ? nullptr : it;
}

bool all_finite(const Array& array) {
  const auto values = array.as<float>();
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

}  // namespace

bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Operator* found = find(node.op);
  if (found == nullptr) return false;
  // Values must be batches of float32 tensors of moderate rank with something in them.
  const auto good_value = [&](ValueId id) {
    const Shape& shape = shape_of(id);
    return shape.size() >= 2 && shape.size() <= 5 && shape[0] == 1 &&
           std::all_of(shape.begin(), shape.end(), [](std::int64_t d) { return d > 0; });
  };
  for (const ValueId in : node.inputs) {
    if (in == no_value) continue;
    if (!graph.is_constant(in)) {
      if (!good_value(in)) return false;
    } else if (graph.constant(in).dtype() == DType::float32 && !all_finite(graph.constant(in))) {
      return false;  // primitives may drop a NaN that must be reported
    }
  }
  for (std::size_t o = 1; o < node.outputs.size(); ++o) {
    if (is_read(graph, node.outputs[o])) return false;
  }
  return good_value(node.outputs.at(0)) && found->supports(graph, node, shape_of);
}

void compile_node(Compiler& compiler, const Node& node) { find(node.op)->compile(compiler, node); }

double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  // A nanosecond's products, results of convolutions, and elements of pools, of what is mostly part of the
  // operator in front (normalisations and functions), and of others; as bench_operators and bench_engine
  // measure them with AVX-512 and with narrower vectors.
  struct Rates {
    double products, results, pooled, fused, others;
  };
  const std::int64_t vector = lanes::lanes_of_vector();
  const Rates rates = vector >= 16 ? Rates{75, std::numeric_limits<double>::infinity(), 2, 2, 2}
                                   : Rates{5.5 * static_cast<double>(vector), 2, 1, 8, 2};
  constexpr double call = 20;
  // Channels are computed in blocks of a vector, whether there are so many or not; up to 4 are read as they
  // are.
  const auto blocks = [&](std::int64_t channels) {
    return static_cast<double>(channels <= 4 ? channels : (channels + vector - 1) / vector * vector);
  };
  const Shape &in = shape_of(node.inputs[0]), &out = shape_of(node.outputs[0]);
  const auto made = static_cast<double>(element_count(out)), read = static_cast<double>(element_count(in));
  if (node.op == "Conv") {
    const Shape& weights = graph.constant(node.inputs[1]).shape();
    const auto kernel = static_cast<double>(element_count(weights) / weights[0] / weights[1]);
    // Weights that leave the second-level cache are read again for every record.
    constexpr double most_cached = 256e3, from_memory = 0.15;
    const auto weight = static_cast<double>(element_count(weights));
    const double results = made / static_cast<double>(out[1]) * blocks(out[1]);
    return call + (weight > most_cached ? from_memory * weight : 0) + results / rates.results +
           results * blocks(weights[1]) * kernel / rates.products;
  }
  if (node.op == "Gemm" || node.op == "MatMul") return call + blocks(out[1]) * blocks(in[1]) / rates.products;
  if (find(node.op)->supports == supports_view) return 0;
  const OperatorKind kind = traits_of(node.op)->kind;
  const bool fused = kind == OperatorKind::normalisation || kind == OperatorKind::activation;
  return call + (made + read) / (fused                           ? rates.fused
                                 : kind == OperatorKind::pooling ? rates.pooled
                                                                 : rates.others);
}

}  // namespace assay::onednn
