// Root-mean-square normalisation, and operators that ONNX Runtime's graph optimisations fuse (domain
// com.microsoft), as the operators that they stand for. What they compute is in that project's list of
// contributed operators.

#include <algorithm>
#include <limits>
#include <optional>

#include <assay/error.h>
#include "assay/model/onnx/fold.h"
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/upgrades/fused.h"

namespace assay::onnx_format {

ValueId needed(const Upgrade& u, std::size_t input) {
  if (!u.has_input(input)) fail(Fault::model, "{}: input {} is missing", u.node.describe(), input);
  return u.node.inputs[input];
}

ValueId optional_input(const Upgrade& u, std::size_t input) {
  return u.has_input(input) ? u.node.inputs[input] : no_value;
}

void refuse(const Upgrade& u, bool given, std::string_view what) {
  if (given) fail(Fault::unsupported, "{}: {} is not supported", u.node.describe(), what);
}

std::int64_t known_rank(const Upgrade& u, std::size_t input) {
  const auto rank = u.graph.rank(needed(u, input));
  if (!rank)
    fail(Fault::unsupported, "{}: the number of axes of input {} is not known", u.node.describe(), input);
  return *rank;
}

// Values with one scale, or one a column; of constants the numbers, so that weights are weights.
ValueId dequantised_input(Upgrade& u, const char* role, std::size_t value, std::size_t scale,
                          std::size_t zero) {
  const Node node{.name = {},
                  .op = "DequantizeLinear",
                  .inputs = {needed(u, value), needed(u, scale), optional_input(u, zero)},
                  .outputs = {},
                  .attributes = {{"axis", std::int64_t{1}}}};
  if (auto values = dequantised_constant(node, u.graph)) return u.constant(role, std::move(*values));
  return u.before(role, node.op, node.inputs, node.attributes);
}

namespace {

using Numbers = std::vector<std::int64_t>;

// Activations
// ------------------------------------------------------------------------------------------------

void gelu(Upgrade& u, bool approximate) {
  const ValueId bias = optional_input(u, 1);
  ValueId x = needed(u, 0);
  if (bias != no_value) x = u.before("biased", "Add", {x, bias});
  u.node.op = "Gelu";
  u.node.inputs = {x};
  u.node.attributes.clear();
  if (approximate) u.node.attributes["approximate"] = std::string("tanh");
}

void exact_gelu(Upgrade& u) { gelu(u, false); }
void bias_gelu(Upgrade& u) {
  needed(u, 1);
  gelu(u, false);
}
void fast_gelu(Upgrade& u) { gelu(u, true); }

void quick_gelu(Upgrade& u) {
  u.node.attributes = {{"alpha", u.node.real("alpha", 1.702F)}};
  u.node.op = "Swish";
}

// After the node, by the name and up to three numbers that say how.
void activate(Upgrade& u, const std::string& name, const std::vector<float>& numbers) {
  if (name.empty()) return;
  const auto number = [&](std::size_t i, float fallback) {
    return i < numbers.size() ? numbers[i] : fallback;
  };
  u.after("activation", name);
  Node& node = u.nodes_after.back();
  if (name == "Clip") {
    node.inputs.push_back(u.real("least", number(0, std::numeric_limits<float>::lowest())));
    node.inputs.push_back(u.real("most", number(1, std::numeric_limits<float>::max())));
  } else if (name == "LeakyRelu") {
    node.attributes["alpha"] = number(0, 0.01F);
  } else if (name == "HardSigmoid") {
    node.attributes["alpha"] = number(0, 0.2F);
    node.attributes["beta"] = number(1, 0.5F);
  } else if (name != "Relu" && name != "Tanh" && name != "Sigmoid" && name != "HardSwish") {
    fail(Fault::unsupported, "{}: there is no activation '{}'", u.node.describe(), name);
  }
}

// activation, activation_alpha, activation_beta
void activate(Upgrade& u) {
  std::vector<float> numbers;
  for (const char* one : {"activation_alpha", "activation_beta"}) {
    if (u.node.has(one)) numbers.push_back(u.node.real(one, 0));
  }
  activate(u, u.node.text("activation", ""), numbers);
  for (const char* one :
       {"activation", "activation_alpha", "activation_beta", "activation_gamma", "activation_axis"})
    u.node.attributes.erase(one);
}

// Products
// ------------------------------------------------------------------------------------------------

void fused_convolution(Upgrade& u) {
  needed(u, 0), needed(u, 1);
  const ValueId sum = optional_input(u, 3);
  activate(u, u.node.text("activation", ""), u.node.reals("activation_params", {}));
  if (sum != no_value) u.after("sum", "Add", sum);
  u.node.attributes.erase("activation");
  u.node.attributes.erase("activation_params");
  u.node.inputs.resize(std::min<std::size_t>(u.node.inputs.size(), 3));
  u.node.op = "Conv";
}

void fused_gemm(Upgrade& u) {
  needed(u, 0), needed(u, 1);
  activate(u);
  u.node.op = "Gemm";
}

// The last two axes of weights change places in the file's own copy, so that they are weights still.
std::optional<Array> turned_weights(const Array* weights) {
  if (weights == nullptr || weights->dtype() != DType::float32 || weights->shape().size() != 2)
    return std::nullopt;
  const std::int64_t rows = weights->shape()[0], columns = weights->shape()[1];
  const auto from = weights->as<float>();
  std::vector<float> to(from.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
  }
  return Array::of<float>({columns, rows}, to);
}

ValueId transposed(Upgrade& u, std::size_t input, const char* attribute, const char* role) {
  const ValueId matrix = needed(u, input);
  if (u.node.integer(attribute, 0) == 0) return matrix;
  if (auto weights = turned_weights(u.graph.constant(matrix))) return u.constant(role, std::move(*weights));
  Numbers order;
  for (std::int64_t axis = 0; axis < known_rank(u, input); ++axis) order.push_back(axis);
  if (order.size() < 2) return matrix;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return u.before(role, "Transpose", {matrix}, {{"perm", order}});
}

void fused_product(Upgrade& u) {
  refuse(u, u.node.integer("transBatchA", 0) != 0 || u.node.integer("transBatchB", 0) != 0,
         "turning the axes of batches");
  const float alpha = u.node.real("alpha", 1);
  activate(u);
  if (alpha != 1) u.after("scaled", "Mul", u.real("alpha", alpha));
  const ValueId a = transposed(u, 0, "transA", "a_turned"), b = transposed(u, 1, "transB", "b_turned");
  u.node.op = "MatMul";
  u.node.inputs = {a, b};
  u.node.attributes.clear();
}

// Normalisations
// ------------------------------------------------------------------------------------------------

// Zhang and Sennrich, "Root mean square layer normalization", 2019: over the axes from `axis` on.
void root_mean_square(Upgrade& u, ValueId x, ValueId scale, std::int64_t axis, float epsilon) {
  Numbers axes;
  if (axis < 0) {
    for (; axis < 0; ++axis) axes.push_back(axis);
  } else {
    for (const std::int64_t rank = known_rank(u, 0); axis < rank; ++axis) axes.push_back(axis);
  }
  const ValueId mean =
      u.before("mean_square", "ReduceMean", {u.before("square", "Mul", {x, x}), u.integers("axes", axes)});
  const ValueId root = u.before(
      "root", "Sqrt", {u.before("mean_square_and_epsilon", "Add", {mean, u.real("epsilon", epsilon)})});
  const ValueId normalised = u.before("normalised", "Div", {x, root});
  if (u.node.outputs.size() > 1) u.forward(1, u.before("inverse", "Reciprocal", {root}));
  u.node.outputs.resize(1);
  u.node.attributes.clear();
  u.node.op = "Mul";
  u.node.inputs = {normalised, scale};
}

void rms_normalization(Upgrade& u) {
  root_mean_square(u, needed(u, 0), needed(u, 1), u.node.integer("axis", -1), u.node.real("epsilon", 1e-5F));
}

// (input, skip, scale, more...): what is normalised is the sum, which is output 3 as well.
ValueId with_skip(Upgrade& u, ValueId bias) {
  ValueId sum = u.before("sum", "Add", {needed(u, 0), needed(u, 1)});
  if (bias != no_value) sum = u.before("biased", "Add", {sum, bias});
  u.forward(3, sum);
  u.node.outputs.resize(std::min<std::size_t>(u.node.outputs.size(), 3));
  return sum;
}

void normalise(Upgrade& u, ValueId x, ValueId scale, ValueId shift) {
  u.node.attributes = {{"axis", std::int64_t{-1}}, {"epsilon", u.node.real("epsilon", 1e-12F)}};
  u.node.op = "LayerNormalization";
  u.node.inputs = {x, scale, shift};
}

void skip_layer_normalization(Upgrade& u) {
  const ValueId scale = needed(u, 2), shift = optional_input(u, 3);
  normalise(u, with_skip(u, optional_input(u, 4)), scale, shift);
}

void skip_rms_normalization(Upgrade& u) {
  const ValueId scale = needed(u, 2);
  const ValueId sum = with_skip(u, optional_input(u, 3));
  refuse(u, u.node.outputs.size() > 1 && u.node.outputs[1] != no_value, "the mean as an output");
  // The inverse is output 2 here.
  if (u.node.outputs.size() == 3) u.node.outputs.erase(u.node.outputs.begin() + 1);
  root_mean_square(u, sum, scale, -1, u.node.real("epsilon", 1e-12F));
}

// (tokens, segments, embeddings of words, positions and segments, scale, shift, mask, positions)
void embed_layer_normalization(Upgrade& u) {
  const ValueId tokens = needed(u, 0), scale = needed(u, 5), shift = needed(u, 6);
  const auto embedded = [&](const char* role, std::size_t table, ValueId indices) {
    return u.before(role, "Gather", {needed(u, table), indices}, {{"axis", std::int64_t{0}}});
  };
  ValueId positions = no_value;
  if (u.has_input(8)) {
    positions = embedded("positions", 3, u.node.inputs[8]);
  } else {
    const ValueId length =
        u.before("length", "Shape", {tokens}, {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
    positions = u.before("positions", "Slice",
                         {needed(u, 3), u.integers("begin", {0}), length, u.integers("axis", {0})});
  }
  ValueId sum = u.before("words_and_positions", "Add", {embedded("words", 2, tokens), positions});
  if (u.has_input(1)) sum = u.before("sum", "Add", {sum, embedded("segments", 4, u.node.inputs[1])});
  u.forward(2, sum);
  if (u.node.outputs.size() > 1 && u.node.outputs[1] != no_value) {
    const ValueId counted = u.has_input(7) ? u.node.inputs[7] : u.before("none", "Sub", {tokens, tokens});
    u.forward(1, u.before("count", "ReduceSum", {counted, u.integers("along", {1})},
                          {{"keepdims", std::int64_t{0}}}));
  }
  u.node.outputs.resize(1);
  normalise(u, sum, scale, shift);
}

// As EmbedLayerNormalization, with the tables and the scale and shift of 8 bits: (tokens, segments, five
// tables, mask, their five scales, their five zero points).
void quantised_embed(Upgrade& u) {
  constexpr std::size_t tables = 2, count = 5, mask = 7, scales = 8, zeros = 13;
  std::vector<ValueId> inputs{needed(u, 0), optional_input(u, 1)};
  for (std::size_t i = 0; i < count; ++i)
    inputs.push_back(u.has_input(tables + i)
                         ? dequantised_input(u, "table", tables + i, scales + i, zeros + i)
                         : no_value);
  inputs.push_back(optional_input(u, mask));
  u.node.inputs = std::move(inputs);
  embed_layer_normalization(u);
}

// (x, weights, bias)
void product_with_fast_gelu(Upgrade& u) {
  const ValueId product = u.before("product", "MatMul", {needed(u, 0), needed(u, 1)});
  u.node.inputs = {product, optional_input(u, 2)};
  fast_gelu(u);
}

// (x, bias, what skips)
void biased_sum(Upgrade& u) {
  u.node.inputs = {u.before("biased", "Add", {needed(u, 0), needed(u, 1)}), needed(u, 2)};
  u.node.op = "Add";
}

constexpr FusedRule extensions[] = {
    {"BiasAdd", biased_sum},
    {"BiasGelu", bias_gelu},
    {"EmbedLayerNormalization", embed_layer_normalization},
    {"FastGelu", fast_gelu},
    {"FusedConv", fused_convolution},
    {"FusedGemm", fused_gemm},
    {"FusedMatMul", fused_product},
    {"FusedMatMulActivation", fused_product},
    {"Gelu", exact_gelu},
    {"GemmFastGelu", product_with_fast_gelu},
    {"QEmbedLayerNormalization", quantised_embed},
    {"QuickGelu", quick_gelu},
    {"SimplifiedLayerNormalization", rms_normalization},
    {"SkipLayerNormalization", skip_layer_normalization},
    {"SkipSimplifiedLayerNormalization", skip_rms_normalization},
    {"TransposeMatMul", fused_product},
    {"Trilu", [](Upgrade& u) { u.node.op = "Trilu"; }},
};

const FusedRule* extension(std::string_view op) {
  for (const std::span<const FusedRule> family :
       {std::span<const FusedRule>(extensions), attention_rules(), few_bits_rules()}) {
    const auto found = std::ranges::find(family, op, &FusedRule::op);
    if (found != family.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

void upgrade_fused(Upgrade& upgrade) {
  const std::string& op = upgrade.node.op;
  // ONNX Runtime writes the second name in the standard's domain.
  if (op == "RMSNormalization" || op == "SimplifiedLayerNormalization") return rms_normalization(upgrade);
  if (!op.starts_with(fused_domain)) return;
  // A file may call any operator so.
  if (const FusedRule* rule = extension(std::string_view(op).substr(fused_domain.size())))
    rule->apply(upgrade);
}

bool is_fused_extension(std::string_view op) { return extension(op) != nullptr; }

}  // namespace assay::onnx_format
