#include "assay/engine/parameters.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "assay/array/transposed.h"
#include "assay/engine/operators/parts/quantised.h"
#include "assay/engine/padding.h"
#include "assay/support/thread_pool.h"

namespace assay::inline engine {
namespace {

using Ints = std::vector<std::int64_t>;

// Weights scaled per unit, and the bias that goes with it.
void fold(std::vector<float>& weights, std::vector<float>& bias, const Affine& affine) {
  const std::size_t outer = weights.size() / bias.size();
  for (std::size_t o = 0; o < bias.size(); ++o) {
    for (std::size_t i = 0; i < outer; ++i) weights[o * outer + i] *= affine.scale[o];
    bias[o] = bias[o] * affine.scale[o] + affine.shift[o];
  }
}

bool has_units_first(const Node& node) { return node.op == "Gemm" && node.integer("transB", 0) != 0; }
float factor_of(const Node& node) { return node.op == "Gemm" ? node.real("alpha", 1.0F) : 1.0F; }

SlidingWindow window_without_padding(const Node& node, Ints kernel) {
  const std::size_t rank = kernel.size();
  return {.kernel = std::move(kernel),
          .strides = entries(node, "strides", rank, 1),
          .dilations = entries(node, "dilations", rank, 1),
          .left = {},
          .right = {}};
}

}  // namespace

Ints entries(const Node& node, std::string_view attribute, std::size_t count, std::int64_t fallback) {
  Ints values = node.integers(attribute, {});
  if (values.empty()) values.assign(count, fallback);
  return values;
}

SlidingWindow sliding_window(const Node& node, const Shape& input, const Shape& output, Ints kernel) {
  const std::size_t rank = input.size() - 2;
  SlidingWindow window = window_without_padding(node, std::move(kernel));
  const Ints pads = entries(node, "pads", 2 * rank, 0);
  const std::string automatic = node.text("auto_pad", "NOTSET");
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    const std::int64_t needed = (output[d + 2] - 1) * window.strides[d] + extent - input[d + 2];
    std::int64_t left = automatic == "VALID" ? 0 : pads[d];
    if (automatic == "SAME_UPPER") left = std::max<std::int64_t>(needed, 0) / 2;
    if (automatic == "SAME_LOWER") left = (std::max<std::int64_t>(needed, 0) + 1) / 2;
    window.left.push_back(left);
    window.right.push_back(needed - left);
  }
  return window;
}

SlidingWindow transposed_window(const Node& node, const Shape& input, const Shape& output, Ints kernel) {
  const std::size_t rank = input.size() - 2;
  SlidingWindow window = window_without_padding(node, std::move(kernel));
  const Ints pads = entries(node, "pads", 2 * rank, 0), added = entries(node, "output_padding", rank, 0);
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const bool by_size = automatic.starts_with("SAME") || !node.integers("output_shape", {}).empty();
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    const std::int64_t full = (input[d + 2] - 1) * window.strides[d] + extent + added[d];
    const std::int64_t cut = std::max<std::int64_t>(full - output[d + 2], 0);
    const std::int64_t declared = automatic == "VALID" ? 0 : pads[d];
    const std::int64_t left = !by_size ? declared : automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    window.left.push_back(left);
    window.right.push_back(cut - left);
  }
  return window;
}

SlidingWindow pool_window(const Node& node, const Shape& input, const Shape& output) {
  const Ints spatial(input.begin() + 2, input.end());
  const bool global = node.op.starts_with("Global");
  return sliding_window(node, input, output, global ? spatial : node.integers("kernel_shape", spatial));
}

bool is_read(const Graph& graph, ValueId id) {
  return id != no_value &&
         (!graph.consumers(id).empty() || std::ranges::find(graph.outputs(), id) != graph.outputs().end());
}

bool drops(const Graph& graph, const Node& node) {
  if (node.op != "Dropout" || node.inputs.size() < 3 || node.inputs[2] == no_value) return false;
  return !graph.is_constant(node.inputs[2]) || graph.constant(node.inputs[2]).data()[0] != std::byte{0};
}

bool reduced_axes(const Graph& graph, const Node& node, std::size_t rank, std::vector<std::int64_t>& axes) {
  axes = node.integers("axes", {});
  if (node.inputs.size() > 1 && node.inputs[1] != no_value) {
    if (!graph.is_constant(node.inputs[1]) || graph.constant(node.inputs[1]).dtype() != DType::int64)
      return false;
    const auto values = graph.constant(node.inputs[1]).as<std::int64_t>();
    axes.assign(values.begin(), values.end());
  }
  for (std::int64_t& axis : axes) axis += axis < 0 ? static_cast<std::int64_t>(rank) : 0;
  return !axes.empty() && std::ranges::find(axes, 0) == axes.end();
}

std::vector<float> floats(const Array& array) {
  const auto values = array.as<float>();
  return {values.begin(), values.end()};
}

bool is_float_constant(const Graph& graph, const Node& node, std::size_t input) {
  return graph.is_constant(node.inputs[input]) &&
         graph.constant(node.inputs[input]).dtype() == DType::float32;
}

std::optional<Quantisation> quantisation_of(const Graph& graph, const Node& node) {
  const bool gives_whole = node.op == "QuantizeLinear";
  if ((!gives_whole && node.op != "DequantizeLinear") || node.inputs.size() < 2) return std::nullopt;
  const auto single = [&](std::size_t i) {
    return graph.is_constant(node.inputs[i]) && graph.constant(node.inputs[i]).count() == 1 &&
           graph.constant(node.inputs[i]).rank() <= 1;
  };
  if (!single(1) || !is_float_constant(graph, node, 1)) return std::nullopt;
  Quantisation found{.scale = graph.constant(node.inputs[1]).item<float>()};
  if (!std::isfinite(found.scale) || found.scale <= 0) return std::nullopt;
  std::optional<DType> of_zero;
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
    if (!single(2)) return std::nullopt;
    found.zero = graph.constant(node.inputs[2]).item<float>();
    of_zero = graph.constant(node.inputs[2]).dtype();
  }
  const bool of_bytes = of_zero == DType::uint8 || of_zero == DType::int8;
  // DequantizeLinear reads numbers of the zero point's type.
  if (!gives_whole && !of_bytes) return found;
  if (gives_whole && of_zero && !of_bytes && node.integer("output_dtype", 0) == 0) return std::nullopt;
  const std::int64_t type = gives_whole               ? operators::quantised_type(node, of_zero)
                            : of_zero == DType::uint8 ? 2
                                                      : 3;
  const auto range = operators::whole_range(type);
  if (!range) return std::nullopt;
  found.low = static_cast<float>(range->low);
  found.high = static_cast<float>(range->high);
  return found;
}

bool has_bias_of_units(const Graph& graph, const Node& node) {
  if (node.op != "Gemm" || node.inputs.size() < 3 || node.inputs[2] == no_value) return true;
  const Shape& weights = graph.constant(node.inputs[1]).shape();
  const std::int64_t units = weights[has_units_first(node) ? 0 : 1];
  const Array& added = graph.constant(node.inputs[2]);
  if (added.count() != units && added.count() != 1) return false;
  return added.count() != units || added.shape().empty() || added.shape().back() == units;
}

std::vector<float> dense_bias(const Graph& graph, const Node& node) {
  const Shape& shape = graph.constant(node.inputs[1]).shape();
  std::vector<float> bias(static_cast<std::size_t>(shape[has_units_first(node) ? 0 : 1]));
  if (node.op != "Gemm" || node.inputs.size() < 3 || node.inputs[2] == no_value) return bias;
  const Array& added = graph.constant(node.inputs[2]);
  const float beta = node.real("beta", 1.0F);
  for (std::size_t u = 0; u < bias.size(); ++u)
    bias[u] = beta * added.as<float>()[added.count() == 1 ? 0 : u];
  return bias;
}

std::optional<LaidWeights> stored_weights(const Graph& graph, const Node& node) {
  if (factor_of(node) != 1) return std::nullopt;
  const Array& matrix = graph.constant(node.inputs[1]);
  const float* const at = matrix.as<float>().data();
  return has_units_first(node) ? LaidWeights{at, matrix.shape()[1], 1}
                               : LaidWeights{at, 1, matrix.shape()[1]};
}

std::vector<float> dense_weights(const Graph& graph, const Node& node) {
  const Array& matrix = graph.constant(node.inputs[1]);
  const bool units_first = has_units_first(node);
  const std::int64_t inputs = matrix.shape()[units_first ? 1 : 0],
                     units = matrix.shape()[units_first ? 0 : 1];
  const float factor = factor_of(node);
  const float* const values = matrix.as<float>().data();
  std::vector<float> weights(static_cast<std::size_t>(matrix.count()));
  const auto copy_units = [&](std::int64_t first, std::int64_t count) {
    float* const to = weights.data() + first * inputs;
    if (units_first)
      std::copy_n(values + first * inputs, count * inputs, to);
    else
      array::write_transposed(inputs, count, units, values + first, inputs, to);
  };
  const std::size_t grain =
      (std::size_t{1} << 16) / static_cast<std::size_t>(std::max<std::int64_t>(inputs, 1)) + 1;
  support::split_loop(static_cast<std::size_t>(units), grain, [&](std::size_t begin, std::size_t end) {
    copy_units(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end - begin));
  });
  if (factor != 1) std::ranges::for_each(weights, [&](float& weight) { weight *= factor; });
  return weights;
}

bool affine_of(const Graph& graph, const Node& node, Affine& affine) {
  for (std::size_t i = 1; i < 5; ++i) {
    if (i >= node.inputs.size() || node.inputs[i] == no_value || !is_float_constant(graph, node, i))
      return false;
  }
  if (node.integer("training_mode", 0) != 0) return false;
  const auto gamma = graph.constant(node.inputs[1]).as<float>(),
             beta = graph.constant(node.inputs[2]).as<float>();
  const auto mean = graph.constant(node.inputs[3]).as<float>(),
             variance = graph.constant(node.inputs[4]).as<float>();
  if (beta.size() != gamma.size() || mean.size() != gamma.size() || variance.size() != gamma.size())
    return false;
  const double epsilon = node.real("epsilon", 1e-5F);
  affine = {};
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    const double scale = gamma[c] / std::sqrt(variance[c] + epsilon);
    affine.scale.push_back(static_cast<float>(scale));
    affine.shift.push_back(static_cast<float>(beta[c] - mean[c] * scale));
  }
  return true;
}

ValueId Absorber::normalisation(ValueId id, std::vector<float>& weights, std::vector<float>& bias) const {
  const Node* reader = sole_reader(id);
  Affine affine;
  if (reader == nullptr || reader->op != "BatchNormalization" || !affine_of(graph, *reader, affine))
    return id;
  if (affine.scale.size() != bias.size()) return id;
  fold(weights, bias, affine);
  fuse(*reader);
  return reader->outputs[0];
}

ValueId Absorber::added_bias(ValueId id, std::vector<float>& bias) const {
  const Node* reader = sole_reader(id);
  if (reader == nullptr || reader->op != "Add") return id;
  const ValueId other = reader->inputs[0] == id ? reader->inputs[1] : reader->inputs[0];
  if (!graph.is_constant(other)) return id;
  const Array& added = graph.constant(other);
  const auto units = std::ssize(bias);
  if (added.dtype() != DType::float32 || added.count() != units || added.shape().empty() ||
      added.shape().back() != units)
    return id;
  for (std::size_t u = 0; u < bias.size(); ++u) bias[u] += added.as<float>()[u];
  fuse(*reader);
  return reader->outputs[0];
}

}  // namespace assay::inline engine
