// MultiHeadAttention, GroupedQueryAttention, Attention, AdditiveAttention (Vaswani et al. 2017; Luong et al.
// 2015; Bahdanau et al. 2015).

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

// [batch, steps, features] of a tensor with any number of axes for its steps.
KerasTensor steps_in_a_row(LayerBuilder& layer, const KerasTensor& given, const std::string& name) {
  const KerasTensor x = layer.as_keras(given);
  if (x.rank() == 3) return x;
  std::int64_t steps = 1;
  for (std::size_t axis = 1; axis + 1 < x.rank(); ++axis) steps *= layer.known(x, axis);
  const std::int64_t features = layer.known(x, x.rank() - 1);
  const ValueId shape = layer.constant(name + "_row", integers({0, steps, features}));
  KerasTensor row =
      x.with(layer.add("Reshape", "_" + name + "_row", {x.value, shape}, {}, "_" + name + "_row"));
  row.shape = {x.shape[0], steps, features};
  return row;
}

// Whether a layer may attend to several axes at once: no masks, and no axes left out.
bool attends_everywhere(const LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  auto axes = layer.config().integers("attention_axes");
  std::ranges::sort(axes);
  return layer.class_name() == "MultiHeadAttention" && !layer.call().causal && !layer.call().scores &&
         layer.pair_mask().value == no_value && std::ranges::all_of(inputs, [&](const KerasTensor& x) {
           Order all;
           for (std::size_t axis = 1; axis + 1 < x.rank(); ++axis) all.push_back(axis);
           return x.rank() > 3 && x.masked_by.empty() && (axes.empty() || axes == all);
         });
}

Attended attended(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  if (inputs.size() != 2 && inputs.size() != 3)
    layer.invalid(fmt::format("is called with {} tensors instead of two or three", inputs.size()));
  const bool everywhere = attends_everywhere(layer, inputs);
  for (const KerasTensor& x : inputs) {
    if (x.rank() != 3 && !everywhere)
      layer.unsupported(fmt::format("input of rank {}", x.rank()), "reshape to [steps, features] before");
    const bool unlike = layer.class_name() == "MultiHeadAttention" && layer.keras_major() == 2 &&
                        layer.keras_minor() < 10;  // took no masks
    if (!x.masked_by.empty() && (x.mask == no_value || unlike)) {
      layer.unsupported(fmt::format("the mask of layer '{}'", x.masked_by),
                        unlike ? "save the model with Keras 2.10 or newer, whose attention takes masks"
                               : "set its mask_zero to false and train again");
    }
  }
  const KerasTensor value = steps_in_a_row(layer, inputs[1], "value");
  return {steps_in_a_row(layer, inputs[0], "query"), value,
          inputs.size() == 3 ? steps_in_a_row(layer, inputs[2], "key") : value};
}

// Pairs of steps that count for all records: none after the query's where the call is causal (early Keras 2
// has it in the config), none further away than the layer's window.
ValueId pairs_by_distance(LayerBuilder& layer, const Attended& x) {
  const bool causal = layer.call().causal || layer.config().flag("causal", false);
  const bool near = layer.config().has("sliding_window");
  if (!causal && !near) return no_value;
  const std::int64_t rows = layer.known(x.query, 1), columns = layer.known(x.value, 1);
  const std::int64_t reach = near ? layer.config().size("sliding_window", 1) : std::max(rows, columns);
  if (rows * columns > std::int64_t{1} << 26)
    layer.invalid(fmt::format("a mask of {} x {} steps is too large", rows, columns));
  std::vector<std::byte> seen;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      seen.push_back(std::byte{(!causal || j <= i) && std::abs(i - j) < reach});
  }
  return layer.constant("seen", Array(DType::boolean, Shape{rows, columns}, std::move(seen)));
}

// Which pairs of steps count, to be broadcast to scores of this rank: [batch, (heads,) steps of the query,
// steps of the values]. None where all do. `by_query` leaves out rows of the query's masked steps as well.
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
  const std::int64_t width = rank;
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
  if (const ValueId seen = pairs_by_distance(layer, x); seen != no_value) parts.push_back(seen);
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

// The sizes of one MultiHeadAttention or GroupedQueryAttention.
struct Heads {
  std::int64_t query,
      value;  // their numbers: groups of as many heads of the query share one of keys and values
  std::int64_t key_width, value_width;
  Shape output;
  bool biased, gated;
};

// A product with a kernel [features, heads, width].
ValueId joint_projection(LayerBuilder& layer, const std::string& name, const KerasTensor& x,
                         std::int64_t count, std::int64_t width, bool biased) {
  const std::int64_t features = layer.known(x, 2), all = count * width;
  const Array kernel = layer.weight(name + "/kernel", {features, count, width}).reshape({features, all});
  std::optional<Array> bias;
  if (biased) bias = layer.weight(name + "/bias", {count, width}).reshape({all});
  return projected(layer, name, x.value, kernel, bias);
}

// One projection, with a head's features apart: [batch, steps, heads, width], its axes in the order given.
ValueId head_projection(LayerBuilder& layer, const std::string& name, const KerasTensor& x,
                        std::int64_t count, std::int64_t width, bool biased, const Order& order) {
  const ValueId together = joint_projection(layer, name, x, count, width, biased);
  const std::string label = "_" + name + "_heads";
  const ValueId apart = layer.add("Reshape", label + "_apart",
                                  {together, layer.constant(name + "_heads", integers({0, 0, count, width}))},
                                  {}, label + "_apart");
  return layer.add("Transpose", label, {apart}, {{"perm", order}}, label);
}

// Heads [batch, heads, ...], each as often as heads of the query share it.
ValueId shared_heads(LayerBuilder& layer, const std::string& name, ValueId heads, const Heads& sizes) {
  if (sizes.query == sizes.value) return heads;
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < sizes.query; ++i) places.push_back(i / (sizes.query / sizes.value));
  const std::string label = "_" + name + "_shared";
  return layer.add("Gather", label, {heads, layer.constant("groups", integers(places))},
                   {{"axis", std::int64_t{1}}}, label);
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

namespace {

// Of each head softmax(Q K^T / sqrt(key_dim)) V, and one product over all of them. `given` is the query as it
// came.
KerasTensors attention_of_heads(LayerBuilder& layer, const Attended& x, const KerasTensor& given,
                                const Heads& heads) {
  const ValueId query =
      head_projection(layer, "query", x.query, heads.query, heads.key_width, heads.biased, {0, 2, 1, 3});
  const ValueId key = shared_heads(
      layer, "key",
      head_projection(layer, "key", x.key, heads.value, heads.key_width, heads.biased, {0, 2, 3, 1}), heads);
  ValueId gate = no_value;
  if (heads.gated) {
    gate = joint_projection(layer, "gate", x.query, heads.query, heads.value_width, heads.biased);
    gate = layer.add("Sigmoid", "_gate_open", {gate}, {}, "_gate_open");
  }
  const ValueId value = shared_heads(
      layer, "value",
      head_projection(layer, "value", x.value, heads.value, heads.value_width, heads.biased, {0, 2, 1, 3}),
      heads);
  const float factor = 1 / std::sqrt(static_cast<float>(heads.key_width));
  const ValueId scores =
      layer.add("MatMul", "_scores", {scaled(layer, query, "_scaled", factor), key}, {}, "_scores");
  const ValueId weights = attention_weights(layer, scores, counted_pairs(layer, x, 4, true));
  const ValueId context = layer.add("MatMul", "_context", {weights, value}, {}, "_context");
  const ValueId ordered =
      layer.add("Transpose", "_steps_first", {context}, {{"perm", Order{0, 2, 1, 3}}}, "_steps_first");
  const std::int64_t all = heads.query * heads.value_width;
  ValueId joined = layer.add("Reshape", "_joined", {ordered, layer.constant("joined", integers({0, 0, all}))},
                             {}, "_joined");
  if (gate != no_value) joined = layer.add("Mul", "_gated", {joined, gate}, {}, "_gated");

  Shape stored{heads.query, heads.value_width};
  stored.insert(stored.end(), heads.output.begin(), heads.output.end());
  const std::int64_t width = element_count(heads.output);
  const Array kernel = layer.weight("attention_output/kernel", stored).reshape({all, width});
  std::optional<Array> bias;
  if (heads.biased) bias = layer.weight("attention_output/bias", heads.output).reshape({width});
  const bool reshaped = given.rank() != 3 || heads.output.size() != 1;
  const ValueId result = projected(layer, "attention_output", joined, kernel, bias, !reshaped);
  if (!reshaped) return attention_result(layer, x, result, width, weights, heads.query);
  Shape shape(given.shape.begin(), given.shape.end() - 1);
  shape.insert(shape.end(), heads.output.begin(), heads.output.end());
  Shape target = shape;
  target[0] = 0;
  KerasTensors results = attention_result(layer, x, result, width, weights, heads.query);
  results[0].value =
      layer.add("Reshape", "_shaped", {result, layer.constant("shape", integers(target))}, {}, "");
  results[0].shape = shape;
  return results;
}

}  // namespace

KerasTensors multi_head_attention(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const LayerConfig& config = layer.config();
  if (const auto axes = config.integers("attention_axes");
      !axes.empty() && axes != Order{1} && !attends_everywhere(layer, inputs))
    layer.unsupported("attention_axes other than all axes of steps", "reshape to [steps, features] before");
  const Attended x = attended(layer, inputs);
  const std::int64_t heads = config.size("num_heads", 0), width = config.size("key_dim", 0);
  Shape output = config.integers("output_shape");
  if (output.empty()) output = {layer.known(x.query, 2)};
  if (std::ranges::any_of(output, [](std::int64_t size) { return size < 1; }))
    layer.invalid("'output_shape' is not a shape");
  return attention_of_heads(layer, x, inputs[0],
                            {.query = heads,
                             .value = heads,
                             .key_width = width,
                             .value_width = config.size("value_dim", width),
                             .output = output,
                             .biased = config.flag("use_bias", true),
                             .gated = config.flag("use_gate", false)});
}

// The same where groups of the query's heads share keys and values (Ainslie et al. 2023).
KerasTensors grouped_query_attention(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Attended x = attended(layer, inputs);
  const LayerConfig& config = layer.config();
  const std::int64_t heads = config.size("num_query_heads", 0),
                     shared = config.size("num_key_value_heads", 0);
  if (heads % shared != 0)
    layer.invalid(fmt::format("{} heads do not share {} in equal parts", heads, shared));
  const std::int64_t width = config.size("head_dim", 0);
  return attention_of_heads(layer, x, inputs[0],
                            {.query = heads,
                             .value = shared,
                             .key_width = width,
                             .value_width = width,
                             .output = {layer.known(x.query, 2)},
                             .biased = config.flag("use_bias", true),
                             .gated = config.flag("use_gate", false)});
}

namespace {

ValueId raised(LayerBuilder& layer, const char* name, ValueId value, std::int64_t axis) {
  return layer.add("Unsqueeze", name,
                   {value, layer.constant(std::string(name).substr(1) + "_axis", integers({axis}))}, {},
                   name);
}

// q + k for all pairs of steps: [batch, steps of the query, steps of the values, features].
ValueId pair_sums(LayerBuilder& layer, const Attended& x) {
  const ValueId query = raised(layer, "_query", x.query.value, 2),
                key = raised(layer, "_key", x.key.value, 1);
  return layer.add("Add", "_sum", {query, key}, {}, "_sum");
}

ValueId sum_of_features(LayerBuilder& layer, ValueId x, const char* suffix) {
  return layer.add("ReduceSum", suffix, {x, layer.constant("features", integers({-1}))},
                   {{"keepdims", std::int64_t{0}}}, suffix);
}

// A learned number.
ValueId learned_number(LayerBuilder& layer, const char* label) {
  return layer.constant(label, layer.weight(label, {}).reshape({1}));
}

}  // namespace

// softmax(Q K^T) V, where use_scale learns a factor; or with scores c sum of tanh(s (q + k)) over the
// features.
KerasTensors attention(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Attended x = attended(layer, inputs);
  const std::string mode = layer.config().text("score_mode", "dot");
  const auto times = [&](ValueId value, const char* label, const char* suffix) {
    return layer.add("Mul", suffix, {value, learned_number(layer, label)}, {}, suffix);
  };
  const bool scale = layer.config().flag("use_scale", false);
  if (mode == "concat") {
    ValueId sum = pair_sums(layer, x);
    if (scale) sum = times(sum, "scale", "_scaled");
    const ValueId curve = layer.add("Tanh", "_tanh", {sum}, {}, "_tanh");
    return taken(layer, times(sum_of_features(layer, curve, "_curves"), "concat_score_weight", "_scores"), x);
  }
  if (mode != "dot") layer.unsupported(fmt::format("score_mode '{}'", mode), "use dot or concat");
  const ValueId key = layer.add("Transpose", "_key", {x.key.value}, {{"perm", Order{0, 2, 1}}}, "_key");
  const std::string_view product = scale ? "_product" : "_scores";
  const ValueId scores = layer.add("MatMul", product, {x.query.value, key}, {}, product);
  return taken(layer, scale ? times(scores, "scale", "_scores") : scores, x);
}

// The sum of tanh(q + k) over the features, with a learned factor for each where use_scale says so.
KerasTensors additive_attention(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Attended x = attended(layer, inputs);
  ValueId curve = layer.add("Tanh", "_tanh", {pair_sums(layer, x)}, {}, "_tanh");
  if (layer.config().flag("use_scale", true)) {
    const Array factors = layer.weight("scale", {layer.known(x.query, 2)});
    curve = layer.add("Mul", "_scaled", {curve, layer.constant("scale", factors)}, {}, "_scaled");
  }
  return taken(layer, sum_of_features(layer, curve, "_scores"), x);
}

}  // namespace assay::keras
