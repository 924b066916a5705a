// Attention as ONNX Runtime's optimisers and builders write it (domain com.microsoft), as the standard's,
// which is then taken apart. What the operators compute is in that project's list of contributed operators.

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include <assay/error.h>
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/upgrades/fused.h"

namespace assay::onnx_format {
namespace {

using Numbers = std::vector<std::int64_t>;

ValueId unsqueezed(Upgrade& u, std::string_view role, ValueId x, const Numbers& axes) {
  return u.before(role, "Unsqueeze", {x, u.integers(std::string(role) + "_axes", axes)});
}

// Of a constant the constant, as the reader would make of the node.
ValueId cast(Upgrade& u, std::string_view role, ValueId x, DType type) {
  if (const Array* known = u.graph.constant(x)) return u.constant(role, known->to(type));
  return u.before(role, "Cast", {x}, {{"to", std::int64_t{onnx_type(type)}}});
}

// Whether a key [batch, keys] is before the end of its record; `ends` holds those of all records, and after
// them where records begin, or nothing more.
ValueId between_ends(Upgrade& u, ValueId ends, ValueId keys) {
  const auto count = u.graph.dimension(ends, 0), records = u.graph.dimension(needed(u, 0), 0);
  refuse(u, count && records && *records > 0 && *count != *records && *count != 2 * *records,
         "a mask of more than ends and beginnings");
  // It would be ends alone, or with beginnings, as many records as run at a time.
  refuse(u, u.graph.constant(ends) != nullptr && count != 1 && !records,
         "a mask of ends that is a constant, beside any number of records,");
  const ValueId batch =
      u.before("batch", "Shape", {keys}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  const ValueId rows =
      u.before("ends_rows", "Concat", {u.integers("any", {-1}), batch}, {{"axis", std::int64_t{0}}});
  const ValueId all = u.before("ends_by_row", "Reshape", {cast(u, "ends", ends, DType::int64), rows});
  // Whose shape is that of two rows at most: with more this fails, rather than take the first ones.
  const ValueId some =
      u.before("two_rows", "Slice",
               {all, u.integers("two_from", {0}), u.integers("two_to", {2}), u.integers("two_axes", {0})});
  const ValueId given = u.before("ends_by_record", "Reshape", {some, u.before("ends_shape", "Shape", {all})});
  const ValueId begin_at_0 = u.before(
      "begin_at_0", "Mul",
      {u.before("first", "Gather", {given, u.integers("first_at", {0})}, {{"axis", std::int64_t{0}}}),
       u.integer("zero", 0)});
  const ValueId both =
      u.before("ends_and_begins", "Concat", {given, begin_at_0}, {{"axis", std::int64_t{0}}});
  const auto row = [&](const std::string& role, std::int64_t at) {
    const ValueId one =
        u.before(role, "Gather", {both, u.integer(role + "_at", at)}, {{"axis", std::int64_t{0}}});
    return unsqueezed(u, role + "_upright", one, {1});
  };
  const ValueId places = u.places("keys", keys, 1);
  const ValueId before_end = u.before("before_end", "Less", {places, row("end", 0)});
  return u.before("seen", "And",
                  {before_end, u.before("begun", "GreaterOrEqual", {places, row("begin", 1)})});
}

// What is added to the scores [batch, heads, queries, keys], of a mask that is 1 where a key is seen: for
// each key of a record, each query and key, or where the keys of a record end. `keys` has the keys on axis 1.
ValueId bias_of_mask(Upgrade& u, std::size_t input, ValueId keys) {
  const std::int64_t rank = known_rank(u, input);
  ValueId mask = u.node.inputs[input];
  if (rank == 1) mask = between_ends(u, mask, keys);
  refuse(u, rank > 3, fmt::format("a mask with {} axes", rank));
  const ValueId hidden = u.before("hidden", "Sub", {u.real("all", 1), cast(u, "mask", mask, DType::float32)});
  const ValueId bias =
      u.before("mask_bias", "Mul", {hidden, u.real("filter", u.node.real("mask_filter_value", -10000.0F))});
  return rank == 3 ? unsqueezed(u, "bias_of_heads", bias, {1}) : unsqueezed(u, "bias_of_heads", bias, {1, 2});
}

// Keys and values of earlier positions, [batch, heads, positions, size]; none: no_value.
struct Past {
  ValueId keys = no_value, values = no_value;
};

// As the standard's Attention, of queries, keys and values [batch, positions, heads * size].
void attend(Upgrade& u, ValueId q, ValueId k, ValueId v, std::size_t mask, std::size_t bias,
            const Past& past) {
  refuse(u, past.keys != no_value && u.has_input(mask) && known_rank(u, mask) == 1,
         "a mask of lengths with a past");
  const std::int64_t heads = u.node.integer("num_heads", 0);
  if (heads < 1) fail(Fault::model, "{}: {} heads", u.node.describe(), heads);
  ValueId added = u.has_input(mask) ? bias_of_mask(u, mask, k) : no_value;
  if (u.has_input(bias))
    added =
        added == no_value ? u.node.inputs[bias] : u.before("all_biases", "Add", {added, u.node.inputs[bias]});
  std::map<std::string, Attribute> attributes{
      {"q_num_heads", heads}, {"kv_num_heads", heads}, {"is_causal", u.node.integer("unidirectional", 0)}};
  if (const float scale = u.node.real("scale", 0); scale != 0) attributes["scale"] = scale;
  u.node.attributes = std::move(attributes);
  u.node.op = "Attention";
  u.node.inputs = {q, k, v, added, past.keys, past.values};
}

std::vector<ValueId> parts(Upgrade& u, std::string_view role, ValueId x, std::int64_t axis, std::size_t count,
                           const Numbers& sizes = {}) {
  const std::string name = u.graph.unique_node_name(fmt::format("{}/{}", u.node.name, role));
  std::vector<ValueId> outputs;
  for (std::size_t i = 0; i < count; ++i) outputs.push_back(u.graph.new_value(fmt::format("{}_{}", name, i)));
  Node split{.name = name, .op = "Split", .inputs = {x}, .outputs = outputs, .attributes = {{"axis", axis}}};
  if (sizes.empty()) {
    split.attributes["num_outputs"] = static_cast<std::int64_t>(count);
  } else {
    split.inputs.push_back(u.integers("sizes", sizes));
  }
  u.graph.add(std::move(split));
  return outputs;
}

// The output of keys and values together, [2, batch, heads, positions, size], of those of the standard.
void present_of_both(Upgrade& u) {
  if (u.node.outputs.size() < 2 || u.node.outputs[1] == no_value) return u.node.outputs.resize(1);
  const ValueId present = u.node.outputs[1], key = u.graph.new_value(u.node.name + "/present_key"),
                value = u.graph.new_value(u.node.name + "/present_value");
  u.graph.add(
      {.name = u.graph.unique_node_name(u.node.name + "/present"),
       .op = "Concat",
       .inputs = {unsqueezed(u, "key_in_front", key, {0}), unsqueezed(u, "value_in_front", value, {0})},
       .outputs = {present},
       .attributes = {{"axis", std::int64_t{0}}}});
  u.node.outputs = {u.node.outputs[0], key, value};
}

// Of keys and values in one, [2, batch, heads, positions, size].
Past past_of_both(Upgrade& u, std::size_t input) {
  if (!u.has_input(input)) return {};
  const auto part = [&](const char* role, std::int64_t which) {
    return u.before(role, "Gather", {u.node.inputs[input], u.integer(std::string(role) + "_at", which)},
                    {{"axis", std::int64_t{0}}});
  };
  return {part("past_keys", 0), part("past_values", 1)};
}

// (x, weights, bias, mask, past, bias of scores, length of the past): the projections are part of it.
void attention_of_weights(Upgrade& u, ValueId x, ValueId weights) {
  refuse(u, u.has_input(6), "a past in a buffer that is shared");
  refuse(u, u.node.integer("do_rotary", 0) != 0, "rotation of positions");
  ValueId all = u.before("projected", "MatMul", {x, weights});
  if (u.has_input(2)) all = u.before("biased", "Add", {all, u.node.inputs[2]});
  const auto qkv = parts(u, "parts", all, -1, 3, u.node.integers("qkv_hidden_sizes", {}));
  present_of_both(u);
  const Past past = past_of_both(u, 4);
  attend(u, qkv[0], qkv[1], qkv[2], 3, 5, past);
}

void fused_attention(Upgrade& u) { attention_of_weights(u, needed(u, 0), needed(u, 1)); }

// (x, weights, bias, scale of x, scale of weights, mask, zero of x, zero of weights, past)
void quantised_attention(Upgrade& u) {
  const ValueId x = dequantised_input(u, "x", 0, 3, 6), weights = dequantised_input(u, "weights", 1, 4, 7);
  u.node.inputs = {x, weights, needed(u, 2), optional_input(u, 5), optional_input(u, 8)};
  attention_of_weights(u, x, weights);
}

// [batch, heads, positions, size] -> [batch, positions, heads * size]; three axes stay.
ValueId by_position(Upgrade& u, std::string_view role, ValueId x) {
  if (u.graph.rank(x) != 4) return x;
  const std::string name(role);
  const ValueId transposed = u.before(name + "_turned", "Transpose", {x}, {{"perm", Numbers{0, 2, 1, 3}}});
  return u.before(name + "_flat", "Reshape", {transposed, u.integers(name + "_shape", {0, 0, -1})});
}

// [batch, positions, heads, count, size] -> that many of [batch, positions, heads * size]
std::vector<ValueId> unpacked(Upgrade& u, std::string_view role, ValueId x, std::size_t count) {
  std::vector<ValueId> all;
  for (const ValueId part : parts(u, role, x, 3, count))
    all.push_back(u.before("flat", "Reshape", {part, u.integers("flat_shape", {0, 0, -1})}));
  return all;
}

// (query, key, value, bias, mask, bias of scores, past keys, past values, and of buffers that are shared)
void multi_head_attention(Upgrade& u) {
  for (std::size_t i = 8; i < u.node.inputs.size(); ++i)
    refuse(u, u.has_input(i), "a past in a buffer that is shared");
  ValueId q = needed(u, 0), k = optional_input(u, 1), v = optional_input(u, 2);
  if (k == no_value) {
    const auto all = unpacked(u, "parts", q, 3);
    q = all[0], k = all[1], v = all[2];
  } else if (v == no_value) {
    const auto all = unpacked(u, "parts", k, 2);
    k = all[0], v = all[1];
  }
  k = by_position(u, "keys", k);
  v = by_position(u, "values", v);
  if (u.has_input(3)) {
    // Queries and keys are equally wide, values may be wider.
    const ValueId width =
        u.before("width", "Shape", {q}, {{"start", std::int64_t{2}}, {"end", std::int64_t{3}}});
    const ValueId twice = u.before("twice", "Add", {width, width});
    const ValueId all = u.before("all", "Shape", {u.node.inputs[3]});
    const auto biased = [&](const char* role, ValueId x, ValueId begin, ValueId end) {
      return u.before(role, "Add",
                      {x, u.before(std::string(role) + "_bias", "Slice", {u.node.inputs[3], begin, end})});
    };
    q = biased("biased_queries", q, u.integers("front", {0}), width);
    k = biased("biased_keys", k, width, twice);
    v = biased("biased_values", v, twice, all);
  }
  attend(u, q, k, v, 4, 5, {optional_input(u, 6), optional_input(u, 7)});
}

// Queries, keys and values in one, [batch, positions, (heads + 2 groups) * size].
std::vector<ValueId> of_one(Upgrade& u, ValueId x, std::int64_t heads, std::int64_t groups) {
  const auto width = u.graph.dimension(x, 2);
  if (!width || *width < 1 || *width % (heads + 2 * groups) != 0)
    fail(Fault::unsupported,
         "{}: the width of queries, keys and values in one is not known, or not that of {} heads",
         u.node.describe(), heads + 2 * groups);
  const std::int64_t size = *width / (heads + 2 * groups);
  return parts(u, "parts", x, -1, 3, {heads * size, groups * size, groups * size});
}

// [batch, positions, heads * size] rotated by positions [1, positions]; the caches are inputs 7 and 8.
ValueId rotated(Upgrade& u, std::string_view role, ValueId x, ValueId positions, std::int64_t heads) {
  const Array* const cosines = u.graph.constant(needed(u, 7));
  const bool known = cosines != nullptr && cosines->shape().size() == 2;
  const auto width = u.graph.dimension(x, 2);
  const std::int64_t part = known ? 2 * cosines->shape()[1] : 0;
  const bool whole = !known || (width && *width == part * heads);
  const std::string name = u.graph.unique_node_name(fmt::format("{}/{}", u.node.name, role));
  const ValueId rotated = u.graph.new_value(name);
  add_upgraded(u.graph,
               {.name = name,
                .op = "RotaryEmbedding",
                .inputs = {x, u.node.inputs[7], needed(u, 8), positions},
                .outputs = {rotated},
                .attributes = {{"interleaved", u.node.integer("rotary_interleaved", 0)},
                               {"num_heads", heads},
                               {"rotary_embedding_dim", whole ? std::int64_t{0} : part}}},
               every_opset);
  return rotated;
}

// (query, key, value, past keys, past values, lengths of records less one, greatest length, cosines, sines,
// positions, bias of scores, sinks). Queries look back only, so that nothing sees what fills up after a text,
// and lengths are not needed. Positions count from the first token of the past, whatever the input says, as
// ONNX Runtime has them for whole texts.
void group_query_attention(Upgrade& u) {
  const std::int64_t heads = u.node.integer("num_heads", 0), groups = u.node.integer("kv_num_heads", 0),
                     window = u.node.integer("local_window_size", -1);
  if (heads < 1 || groups < 1 || window == 0)
    fail(Fault::model, "{}: {} heads, {} of keys, a window of {}", u.node.describe(), heads, groups, window);
  refuse(u, u.node.integer("smooth_softmax", 0) > 0 || u.has_input(11), "a sink of attention");
  ValueId q = needed(u, 0), k = optional_input(u, 1), v = optional_input(u, 2);
  if (k == no_value) {
    const auto all = of_one(u, q, heads, groups);
    q = all[0], k = all[1], v = all[2];
  }
  const Past past{optional_input(u, 3), optional_input(u, 4)};
  if (u.node.integer("do_rotary", 0) != 0) {
    ValueId positions = u.places("tokens", q, 1);
    if (past.keys != no_value)
      positions = u.before("later_tokens", "Add", {positions, u.length("past_tokens", past.keys, 2)});
    positions = unsqueezed(u, "positions", positions, {0});
    q = rotated(u, "turned_queries", q, positions, heads);
    k = rotated(u, "turned_keys", k, positions, groups);
  }
  std::map<std::string, Attribute> attributes{
      {"q_num_heads", heads}, {"kv_num_heads", groups}, {"is_causal", std::int64_t{1}}};
  if (const float scale = u.node.real("scale", 0); scale != 0) attributes["scale"] = scale;
  if (const float cap = u.node.real("softcap", 0); cap != 0) attributes["softcap"] = cap;
  if (window > 0) attributes["left_window_size"] = window - 1;
  u.node.inputs = {q, k, v, optional_input(u, 10), past.keys, past.values};
  u.node.attributes = std::move(attributes);
  u.node.outputs.resize(std::min<std::size_t>(u.node.outputs.size(), 3));
  u.node.op = "Attention";
}

// (x, positions, cosines, sines); positions are those of each token, or of the first one.
void fused_rotary_embedding(Upgrade& u) {
  refuse(u, u.node.real("scale", 1) != 1 || u.node.integer("is_packed_batching", 0) != 0,
         "a scale or packing");
  ValueId x = needed(u, 0), positions = needed(u, 1);
  std::int64_t heads = u.node.integer("num_heads", 0);
  const std::int64_t rank = !u.graph.rank(x) && heads > 0 ? 3 : known_rank(u, 0);
  if (known_rank(u, 1) == 1) {
    positions =
        unsqueezed(u, "positions_of_records",
                   u.before("positions", "Add", {u.places("tokens", x, rank == 3 ? 1 : 2), positions}), {0});
  }
  if (rank == 3 && heads == 0) {
    const Array* cosines = u.graph.constant(needed(u, 2));
    const auto width = u.graph.dimension(x, 2);
    if (cosines == nullptr || cosines->shape().size() != 2 || cosines->shape()[1] < 1 || !width)
      fail(Fault::unsupported, "{}: the number of heads is not known", u.node.describe());
    heads = *width / (2 * cosines->shape()[1]);
  }
  std::map<std::string, Attribute> attributes{
      {"interleaved", u.node.integer("interleaved", 0)},
      {"num_heads", heads},
      {"rotary_embedding_dim", u.node.integer("rotary_embedding_dim", 0)}};
  u.node.inputs = {x, needed(u, 2), needed(u, 3), positions};
  u.node.attributes = std::move(attributes);
  u.node.op = "RotaryEmbedding";
}

constexpr FusedRule rules_of_attention[] = {
    {"Attention", fused_attention},
    {"GroupQueryAttention", group_query_attention},
    {"MultiHeadAttention", multi_head_attention},
    {"QAttention", quantised_attention},
    {"RotaryEmbedding", fused_rotary_embedding},
};

}  // namespace

std::span<const FusedRule> attention_rules() { return rules_of_attention; }

}  // namespace assay::onnx_format
