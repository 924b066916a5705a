// MultiHeadAttention, Attention, AdditiveAttention (Vaswani et al. 2017; Luong et al. 2015; Bahdanau et al.
// 2015).

#include <algorithm>
#include <cmath>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"

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
    const bool unlike = layer.class_name() == "MultiHeadAttention" && layer.keras_major() == 2 &&
                        layer.keras_minor() < 10;  // took no masks
    if (!x.masked_by.empty() && (x.mask == no_value || unlike)) {
      layer.unsupported(fmt::format("the mask of layer '{}'", x.masked_by),
                        unlike ? "save the model with Keras 2.10 or newer, whose attention takes masks"
                               : "set its mask_zero to false and train again");
    }
  }
  const KerasTensor value = layer.as_keras(inputs[1]);
  return {layer.as_keras(inputs[0]), value, inputs.size() == 3 ? layer.as_keras(inputs[2]) : value};
}

// Which pairs of steps count, to be broadcast to scores of this rank: [batch, (heads,) steps of the query,
// steps of the values]. None where all do. `by_query` leaves out rows of the query's masked steps, too.
ValueId counted_pairs(LayerBuilder& layer, const Attended& x, std::size_t rank, bool by_query) {
  constexpr std::int64_t truth = 9;
  const auto axes_after_batch = [&](std::int64_t last) {
    std::vector<std::int64_t> axes;
    for (std::int64_t axis = 1; axis + 2 < static_cast<std::int64_t>(rank); ++axis) axes.push_back(axis);
    axes.push_back(last);
    return axes;
  };
  const auto cast = [&](const std::string& suffix, ValueId value) {
    return layer.add("Cast", suffix, {value}, {{"to", truth}}, suffix);
  };
  std::vector<ValueId> parts;
  const auto add_steps = [&](const std::string& name, ValueId mask, std::int64_t axis) {
    const ValueId axes = layer.constant(name + "_mask_axes", integers(axes_after_batch(axis)));
    const ValueId raised =
        layer.add("Unsqueeze", "_" + name + "_upright", {mask, axes}, {}, "_" + name + "_upright");
    parts.push_back(cast("_" + name + "_counts", raised));
  };
  const auto width = static_cast<std::int64_t>(rank);
  if (by_query && x.query.mask != no_value) add_steps("query", x.query.mask, width - 1);
  if (x.value.mask != no_value) add_steps("value", x.value.mask, width - 2);
  if (by_query && x.key.mask != no_value && x.key.mask != x.value.mask)
    add_steps("key", x.key.mask, width - 2);
  if (const KerasTensor& given = layer.pair_mask(); given.value != no_value) {
    ValueId pairs = cast("_pairs", given.value);
    if (rank == 4 && given.rank() == 3)
      pairs = layer.add("Unsqueeze", "_pairs_upright", {pairs, layer.constant("heads_axis", integers({1}))},
                        {}, "_pairs_upright");
    parts.push_back(pairs);
  }
  if (layer.call().causal || layer.config().flag("causal", false)) {  // early Keras 2 has it in the config
    const std::int64_t rows = layer.known(x.query, 1), columns = layer.known(x.value, 1);
    if (rows * columns > std::int64_t{1} << 26)
      layer.invalid(fmt::format("a causal mask of {} x {} steps is too large", rows, columns));
    std::vector<std::byte> seen;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) seen.push_back(std::byte{j <= i});
    }
    parts.push_back(layer.constant("seen", Array(DType::boolean, Shape{rows, columns}, std::move(seen))));
  }
  if (parts.empty()) return no_value;
  ValueId all = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string suffix = fmt::format("_allowed_{}", i);
    all = layer.add("And", suffix, {all, parts[i]}, {}, suffix);
  }
  return all;
}

// Scores [..., steps of the query, steps of the values] to weights that sum to 1. A row in which nothing
// counts gets equal weights, as in Keras, which subtracts a large number.
ValueId attention_weights(LayerBuilder& layer, ValueId scores, ValueId counted) {
  if (counted != no_value) {
    scores = layer.add("Where", "_counted", {counted, scores, layer.constant("unseen", scalar(-1e9F))}, {},
                       "_counted");
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

// The result, and the weights (of `heads` heads, 0: none) where the call returns them.
KerasTensors attention_result(LayerBuilder& layer, const Attended& x, ValueId value, std::int64_t width,
                              ValueId weights, std::int64_t heads) {
  KerasTensor result = x.query.with(value);
  result.shape = {x.query.shape[0], x.query.shape[1], width};
  if (!layer.call().scores) return {result};
  KerasTensor scores = x.query.with(weights).without_mask();
  scores.shape = {x.query.shape[0], x.query.shape[1], x.value.shape[1]};
  if (heads > 0) scores.shape.insert(scores.shape.begin() + 1, heads);
  return {result, scores};
}

// The values, taken with the weights of scores [batch, steps of the query, steps of the values]. Steps of the
// query that do not count give zeros.
KerasTensors taken(LayerBuilder& layer, ValueId scores, const Attended& x) {
  const ValueId weights = attention_weights(layer, scores, counted_pairs(layer, x, 3, false));
  const bool masked = x.query.mask != no_value;
  const std::string_view suffix = masked ? "_taken" : "";
  ValueId value = layer.add("MatMul", suffix, {weights, x.value.value}, {}, suffix);
  if (masked) {
    const ValueId upright =
        layer.add("Unsqueeze", "_query_upright", {x.query.mask, layer.constant("last", integers({2}))}, {},
                  "_query_upright");
    const ValueId counts =
        layer.add("Cast", "_query_counts", {upright}, {{"to", std::int64_t{1}}}, "_query_counts");
    value = layer.add("Mul", "", {value, counts}, {}, "");
  }
  return attention_result(layer, x, value, x.value.shape[2], weights, 0);
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
  const ValueId weights = attention_weights(layer, scores, counted_pairs(layer, x, 4, true));
  const ValueId context = layer.add("MatMul", "_context", {weights, value}, {}, "_context");
  const ValueId ordered =
      layer.add("Transpose", "_steps_first", {context}, {{"perm", Order{0, 2, 1, 3}}}, "_steps_first");
  const std::int64_t all = heads.count * value_width;
  const ValueId joined = layer.add("Reshape", "_joined",
                                   {ordered, layer.constant("joined", integers({0, 0, all}))}, {}, "_joined");
  const Array kernel =
      layer.weight("attention_output/kernel", {heads.count, value_width, width}).reshaped({all, width});
  std::optional<Array> bias;
  if (heads.biased) bias = layer.weight("attention_output/bias", {width});
  return attention_result(layer, x, projected(layer, "attention_output", joined, kernel, bias, true), width,
                          weights, heads.count);
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
