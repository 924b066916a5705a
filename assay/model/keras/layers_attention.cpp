// MultiHeadAttention, Attention, AdditiveAttention (Vaswani et al. 2017; Luong et al. 2015; Bahdanau et al.
// 2015).

#include <algorithm>
#include <cmath>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers.h"

namespace assay::keras {
namespace {

using Order = std::vector<std::int64_t>;

// The query, the values and the keys (the values where none are given) of a call: [batch, steps, features].
struct Attended {
  KerasTensor query, value, key;
};

Attended attended(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  if (inputs.size() != 2 && inputs.size() != 3)
    layer.invalid(fmt::format("is called with {} tensors instead of two or three", inputs.size()));
  for (const KerasTensor& x : inputs) {
    if (x.rank() != 3)
      layer.unsupported(fmt::format("input of rank {}", x.rank()), "reshape to [steps, features] before");
    if (!x.masked_by.empty()) {
      layer.unsupported(fmt::format("the mask of layer '{}'", x.masked_by),
                        "set its mask_zero to false and train again");
    }
  }
  const KerasTensor value = layer.as_keras(inputs[1]);
  return {layer.as_keras(inputs[0]), value, inputs.size() == 3 ? layer.as_keras(inputs[2]) : value};
}

// Scores [..., steps of the query, steps of the values] to weights that sum to 1; a causal call takes no
// value behind the query's own step.
ValueId attention_weights(LayerBuilder& layer, ValueId scores, const Attended& x) {
  if (layer.causal() || layer.config().flag("causal", false)) {  // early Keras 2 has it in the config
    const std::int64_t rows = layer.known(x.query, 1), columns = layer.known(x.value, 1);
    if (rows * columns > std::int64_t{1} << 26)
      layer.invalid(fmt::format("a causal mask of {} x {} steps is too large", rows, columns));
    std::vector<std::byte> seen;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) seen.push_back(std::byte{j <= i});
    }
    scores = layer.add("Where", "_causal",
                       {layer.constant("seen", Array(DType::boolean, Shape{rows, columns}, std::move(seen))),
                        scores, layer.constant("unseen", scalar(-1e9F))},
                       {}, "_causal");
  }
  return layer.add("Softmax", "_weights", {scores}, {{"axis", std::int64_t{-1}}}, "_weights");
}

// x W + b with W [in, out] and b [out]; none where there is no bias.
ValueId projected(LayerBuilder& layer, const std::string& name, ValueId x, const Array& kernel,
                  const std::optional<Array>& bias, bool last = false) {
  const std::string node = last ? "" : "_" + name;
  const std::string product = bias ? "_" + name + "_product" : node;
  const ValueId result =
      layer.add("MatMul", node, {x, layer.constant(name + "/kernel", kernel)}, {}, product);
  if (!bias) return result;
  return layer.add("Add", "_" + name + "_bias", {result, layer.constant(name + "/bias", *bias)}, {}, node);
}

// The sizes of one MultiHeadAttention.
struct Heads {
  std::int64_t count;
  bool biased;
};

// One projection, with a head's features apart: [batch, steps, heads, width], its axes in the order given.
ValueId head_projection(LayerBuilder& layer, const std::string& name, const KerasTensor& x,
                        const Heads& heads, std::int64_t width, const Order& order) {
  const std::int64_t features = layer.known(x, 2), all = heads.count * width;
  const Array kernel =
      layer.weight(name + "/kernel", {features, heads.count, width}).reshaped({features, all});
  std::optional<Array> bias;
  if (heads.biased) bias = layer.weight(name + "/bias", {heads.count, width}).reshaped({all});
  const ValueId together = projected(layer, name, x.value, kernel, bias);
  const std::string label = "_" + name + "_heads";
  const ValueId apart =
      layer.add("Reshape", label + "_apart",
                {together, layer.constant(name + "_heads", integers({0, 0, heads.count, width}))}, {},
                label + "_apart");
  return layer.add("Transpose", label, {apart}, {{"perm", order}}, label);
}

ValueId scaled(LayerBuilder& layer, ValueId x, const char* suffix, float factor) {
  return layer.add("Mul", suffix, {x, layer.constant("scale", scalar(factor))}, {}, suffix);
}

KerasTensors attention_result(const Attended& x, ValueId value, std::int64_t width) {
  KerasTensor result = x.query.with(value);
  result.shape = {x.query.shape[0], x.query.shape[1], width};
  return {result};
}

// The values, taken with the weights of scores [batch, steps of the query, steps of the values].
KerasTensors taken(LayerBuilder& layer, ValueId scores, const Attended& x) {
  const ValueId weights = attention_weights(layer, scores, x);
  return attention_result(x, layer.add("MatMul", "", {weights, x.value.value}, {}, ""), x.value.shape[2]);
}

}  // namespace

// Of each head softmax(Q K^T / sqrt(key_dim)) V, and one product over all of them.
KerasTensors multi_head_attention(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Attended x = attended(layer, inputs);
  const LayerConfig& config = layer.config();
  const Heads heads{config.size("num_heads", 0), config.flag("use_bias", true)};
  const std::int64_t key_width = config.size("key_dim", 0), value_width = config.size("value_dim", key_width);
  if (const auto axes = config.integers("attention_axes"); !axes.empty() && axes != Order{1})
    layer.unsupported("attention_axes other than 1", "reshape to [steps, features] before");
  if (config.flag("use_gate", false)) layer.unsupported("use_gate", "leave it out");
  const auto given = config.integers("output_shape");
  if (given.size() > 1) layer.unsupported("an output_shape of several axes", "reshape behind the layer");
  const std::int64_t width = given.empty() ? layer.known(x.query, 2) : config.size("output_shape", 0);

  const ValueId query = head_projection(layer, "query", x.query, heads, key_width, {0, 2, 1, 3});
  const ValueId key = head_projection(layer, "key", x.key, heads, key_width, {0, 2, 3, 1});
  const ValueId value = head_projection(layer, "value", x.value, heads, value_width, {0, 2, 1, 3});
  const float factor = 1 / std::sqrt(static_cast<float>(key_width));
  const ValueId scores =
      layer.add("MatMul", "_scores", {scaled(layer, query, "_scaled", factor), key}, {}, "_scores");
  const ValueId context =
      layer.add("MatMul", "_context", {attention_weights(layer, scores, x), value}, {}, "_context");
  const ValueId ordered =
      layer.add("Transpose", "_steps_first", {context}, {{"perm", Order{0, 2, 1, 3}}}, "_steps_first");
  const std::int64_t all = heads.count * value_width;
  const ValueId joined = layer.add("Reshape", "_joined",
                                   {ordered, layer.constant("joined", integers({0, 0, all}))}, {}, "_joined");
  const Array kernel =
      layer.weight("attention_output/kernel", {heads.count, value_width, width}).reshaped({all, width});
  std::optional<Array> bias;
  if (heads.biased) bias = layer.weight("attention_output/bias", {width});
  return attention_result(x, projected(layer, "attention_output", joined, kernel, bias, true), width);
}

// softmax(Q K^T) V, or with scores c tanh(q + k) summed over the features; use_scale learns a factor.
KerasTensors attention(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Attended x = attended(layer, inputs);
  const std::string mode = layer.config().text("score_mode", "dot");
  if (mode != "dot") layer.unsupported(fmt::format("score_mode '{}'", mode), "use dot, or AdditiveAttention");
  const ValueId key = layer.add("Transpose", "_key", {x.key.value}, {{"perm", Order{0, 2, 1}}}, "_key");
  const bool scale = layer.config().flag("use_scale", false);
  const std::string_view product = scale ? "_product" : "_scores";
  ValueId scores = layer.add("MatMul", product, {x.query.value, key}, {}, product);
  if (scale) {
    const Array factor = layer.weight("scale", {}).reshaped({1});
    scores = layer.add("Mul", "_scores", {scores, layer.constant("scale", factor)}, {}, "_scores");
  }
  return taken(layer, scores, x);
}

// The sum of tanh(q + k) over the features, with a learned factor for each where use_scale says so.
KerasTensors additive_attention(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Attended x = attended(layer, inputs);
  const auto raised = [&](const char* name, ValueId value, std::int64_t axis) {
    return layer.add("Unsqueeze", name,
                     {value, layer.constant(std::string(name).substr(1) + "_axis", integers({axis}))}, {},
                     name);
  };
  const ValueId query = raised("_query", x.query.value, 2), key = raised("_key", x.key.value, 1);
  const ValueId sum = layer.add("Add", "_sum", {query, key}, {}, "_sum");
  ValueId curve = layer.add("Tanh", "_tanh", {sum}, {}, "_tanh");
  if (layer.config().flag("use_scale", true)) {
    const Array factors = layer.weight("scale", {layer.known(x.query, 2)});
    curve = layer.add("Mul", "_scaled", {curve, layer.constant("scale", factors)}, {}, "_scaled");
  }
  const ValueId scores =
      layer.add("ReduceSum", "_scores", {curve, layer.constant("features", integers({-1}))},
                {{"keepdims", std::int64_t{0}}}, "_scores");
  return taken(layer, scores, x);
}

}  // namespace assay::keras
