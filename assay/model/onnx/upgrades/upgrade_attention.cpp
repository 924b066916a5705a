// Attention and RotaryEmbedding (operator set 23), taken apart into products, softmax and movement, so that
// layers and relevance see what is inside.

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/error.h>
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/upgrades/upgrade.h"

namespace assay::onnx_format {
namespace {

using Numbers = std::vector<std::int64_t>;

std::int64_t rank_of(const Upgrade& u, std::size_t input) {
  if (!u.has_input(input)) fail(Fault::model, "{}: input {} is missing", u.node.describe(), input);
  const auto rank = u.graph.rank(u.node.inputs[input]);
  if (!rank || (*rank != 3 && *rank != 4)) {
    fail(Fault::unsupported, "{}: input {} has {} axes; 3 or 4 that are known are needed", u.node.describe(),
         input, rank ? std::to_string(*rank) : "unknown");
  }
  return *rank;
}

// [batch, positions, heads * size] -> [batch, heads, positions, size]
ValueId by_heads(Upgrade& u, std::string_view role, ValueId x, std::int64_t heads) {
  if (heads < 1) fail(Fault::model, "{}: {} heads", u.node.describe(), heads);
  const std::string name(role);
  const ValueId apart =
      u.before(name + "_heads", "Reshape", {x, u.integers(name + "_shape", {0, 0, heads, -1})});
  return u.before(name + "_by_head", "Transpose", {apart}, {{"perm", Numbers{0, 2, 1, 3}}});
}

// The node ends with [batch, heads, positions, size] -> [batch, positions, heads * size].
void join_heads(Upgrade& u, ValueId x) {
  const ValueId transposed = u.before("by_position", "Transpose", {x}, {{"perm", Numbers{0, 2, 1, 3}}});
  u.node.op = "Reshape";
  u.node.inputs = {transposed, u.integers("joined", {0, 0, -1})};
}

ValueId positions_of(Upgrade& u, std::string_view role, ValueId x, std::int64_t upright) {
  const std::string name(role);
  return u.before(name + "_upright", "Unsqueeze",
                  {u.places(name, x, 2), u.integers(name + "_axis", {upright})});
}

// Where the condition does not hold scores are minus infinity.
ValueId masked(Upgrade& u, std::string_view role, ValueId scores, ValueId condition) {
  return u.before(role, "Where",
                  {condition, scores, u.real("never", -std::numeric_limits<float>::infinity())});
}

// Groups of heads of queries share one of keys and values.
ValueId shared(Upgrade& u, std::string_view role, ValueId x, std::int64_t heads, std::int64_t of) {
  if (heads == of) return x;
  if (of < 1 || heads % of != 0)
    fail(Fault::model, "{}: {} heads do not share {}", u.node.describe(), heads, of);
  Numbers places;
  for (std::int64_t head = 0; head < heads; ++head) places.push_back(head / (heads / of));
  return u.before(role, "Gather", {x, u.integers(std::string(role) + "_places", places)},
                  {{"axis", std::int64_t{1}}});
}

// Whether some row of a mask that is constant leaves no position, or may.
bool may_leave_no_position(const Upgrade& u, ValueId mask) {
  const Array* const given = u.graph.constant(mask);
  if (given == nullptr || given->shape().empty() || given->count() == 0) return true;
  const std::size_t length = given->shape().back();
  const Array numbers = given->to(DType::float32);
  const auto values = numbers.as<float>();
  const float never = given->dtype() == DType::boolean ? 0.0F : -std::numeric_limits<float>::infinity();
  for (std::size_t row = 0; row < values.size(); row += length) {
    const auto of_row = values.subspan(row, length);
    if (std::ranges::all_of(of_row, [&](float value) { return value == never; })) return true;
  }
  return false;
}

// A softmax along rows; rows in which no position is left have no weights.
ValueId weights_of(Upgrade& u, ValueId scores, bool may_be_none) {
  const std::map<std::string, Attribute> last{{"axis", std::int64_t{-1}}};
  if (!may_be_none) return u.before("weights", "Softmax", {scores}, last);
  const ValueId most = u.before("greatest", "ReduceMax", {scores, u.integers("last", {-1})});
  const ValueId none =
      u.before("none", "Equal", {most, u.real("never", -std::numeric_limits<float>::infinity())});
  const ValueId zero = u.real("zero", 0);
  const ValueId some = u.before("some_scores", "Where", {none, zero, scores});
  return u.before("weights", "Where", {none, zero, u.before("some_weights", "Softmax", {some}, last)});
}

// The options of an Attention node.
struct AttentionInputs {
  static constexpr std::size_t mask = 3, past_keys = 4, past_values = 5, lengths = 6;
};

// A mask that ends before the last key leaves the rest out, where keys beyond it are padding.
ValueId whole_mask(Upgrade& u, ValueId mask, bool truth, ValueId keys) {
  const auto rank = u.graph.rank(mask);
  if (!rank || *rank < 1) return mask;
  const auto length = u.graph.dimension(mask, static_cast<std::size_t>(*rank) - 1),
             wanted = u.graph.dimension(keys, 2);
  const bool known = length && wanted && *length >= 0 && *wanted >= 0;
  if (known ? *length == *wanted : !u.has_input(AttentionInputs::lengths)) return mask;
  const ValueId missing = u.before(
      "mask_missing", "Sub",
      {u.before("key_count", "Shape", {keys}, {{"start", std::int64_t{2}}, {"end", std::int64_t{3}}}),
       u.before("mask_length", "Shape", {mask}, {{"start", *rank - 1}, {"end", *rank}})});
  const ValueId pads =
      u.before("mask_pads", "Concat", {u.integers("mask_before", Numbers(2 * *rank - 1, 0)), missing},
               {{"axis", std::int64_t{0}}});
  if (!truth)
    return u.before("whole_mask", "Pad",
                    {mask, pads, u.real("never", -std::numeric_limits<float>::infinity())});
  const ValueId numbers = u.before("mask_numbers", "Cast", {mask}, {{"to", std::int64_t{7}}});
  return u.before("whole_mask", "Cast", {u.before("padded_mask", "Pad", {numbers, pads})},
                  {{"to", std::int64_t{9}}});
}

// [batch] -> [batch, 1, 1, 1]
ValueId by_record(Upgrade& u, std::string_view role, ValueId x) {
  return u.before(role, "Unsqueeze", {x, u.integers(std::string(role) + "_axes", {1, 2, 3})});
}

// Which keys a query sees for its position: of a causal network none after it, of a window those near it,
// and none that is padding. no_value: all.
ValueId seen_positions(Upgrade& u, ValueId q, ValueId k) {
  const bool causal = u.node.integer("is_causal", 0) != 0;
  const std::int64_t left = u.node.integer("left_window_size", -1),
                     right = u.node.integer("right_window_size", -1);
  const bool padded = u.has_input(AttentionInputs::lengths);
  const ValueId columns = positions_of(u, "columns", k, 0);
  ValueId seen = no_value;
  const auto require = [&](const char* role, const char* op, ValueId a, ValueId b) {
    const ValueId one = u.before(role, op, {a, b});
    seen = seen == no_value ? one : u.before(std::string(role) + "_too", "And", {seen, one});
  };
  const ValueId lengths =
      padded ? by_record(u, "lengths", u.node.inputs[AttentionInputs::lengths]) : no_value;
  if (causal || left >= 0 || right >= 0) {
    ValueId rows = positions_of(u, "rows", q, 1);
    if (u.has_input(AttentionInputs::past_keys)) {
      const ValueId before = u.length("past_length", u.node.inputs[AttentionInputs::past_keys], 2);
      rows = u.before("later_rows", "Add", {rows, before});
    } else if (padded) {
      const ValueId before = u.before("keys_before", "Sub", {lengths, u.length("query_count", q, 2)});
      rows = u.before("later_rows", "Add", {rows, before});
    }
    if (causal) require("seen", "GreaterOrEqual", rows, columns);
    if (left >= 0)
      require("near_left", "GreaterOrEqual", columns,
              u.before("leftmost", "Sub", {rows, u.integer("left_window", left)}));
    if (right >= 0)
      require("near_right", "LessOrEqual", columns,
              u.before("rightmost", "Add", {rows, u.integer("right_window", right)}));
  }
  if (padded) require("not_padding", "Less", columns, lengths);
  return seen;
}

// Vaswani et al., "Attention is all you need", 2017; grouped as in Ainslie et al., 2023.
void attention(Upgrade& u) {
  using In = AttentionInputs;
  // The number of heads is said of three axes only.
  const bool flat = u.node.integer("q_num_heads", 0) > 0 || rank_of(u, 0) == 3;
  const auto heads_in = [&](std::size_t input, const char* attribute) {
    if (flat) return u.node.integer(attribute, 0);
    return u.graph.dimension(u.node.inputs[input], 1).value_or(1);
  };
  if (!flat) rank_of(u, 1), rank_of(u, 2);
  const std::int64_t heads = heads_in(0, "q_num_heads"), groups = heads_in(1, "kv_num_heads");
  const bool past = u.has_input(In::past_keys), padded = u.has_input(In::lengths);
  if (past != u.has_input(In::past_values))
    fail(Fault::model, "{}: past keys and values belong together", u.node.describe());
  if (past && padded)
    fail(Fault::model, "{}: lengths without padding are not for past keys, which have none",
         u.node.describe());
  ValueId q = u.node.inputs[0], k = u.node.inputs[1], v = u.node.inputs[2];
  if (flat) {
    q = by_heads(u, "queries", q, heads);
    k = by_heads(u, "keys", k, groups);
    v = by_heads(u, "values", v, groups);
  }
  if (past) {
    k = u.before("all_keys", "Concat", {u.node.inputs[In::past_keys], k}, {{"axis", std::int64_t{2}}});
    v = u.before("all_values", "Concat", {u.node.inputs[In::past_values], v}, {{"axis", std::int64_t{2}}});
  }
  u.forward(1, k);
  u.forward(2, v);
  k = shared(u, "shared_keys", k, heads, groups);
  v = shared(u, "shared_values", v, heads, groups);
  if (u.node.has("scale")) {
    q = u.before("scaled", "Mul", {q, u.real("scale", u.node.real("scale", 1))});
  } else {
    const ValueId size = u.before("size", "Cast", {u.length("head_size", q, 3)}, {{"to", std::int64_t{1}}});
    q = u.before("scaled", "Div", {q, u.before("root", "Sqrt", {size})});
  }
  const ValueId transposed = u.before("turned_keys", "Transpose", {k}, {{"perm", Numbers{0, 1, 3, 2}}});
  ValueId scores = u.before("scores", "MatMul", {q, transposed});
  const std::int64_t mode = u.node.integer("qk_matmul_output_mode", 0);
  if (mode == 0) u.forward(3, scores);
  if (const float softcap = u.node.real("softcap", 0); softcap != 0) {
    const ValueId cap = u.real("cap", softcap);
    scores = u.before("capped", "Mul",
                      {u.before("cap_tanh", "Tanh", {u.before("uncapped", "Div", {scores, cap})}), cap});
  }
  if (mode == 1) u.forward(3, scores);
  if (u.has_input(In::mask)) {
    const bool truth = u.graph.element_type(u.node.inputs[In::mask]) == onnx::TensorProto::BOOL;
    const ValueId mask = whole_mask(u, u.node.inputs[In::mask], truth, k);
    scores = truth ? masked(u, "masked", scores, mask) : u.before("biased", "Add", {scores, mask});
  }
  const ValueId seen = seen_positions(u, q, k);
  if (seen != no_value) scores = masked(u, "unseen", scores, seen);
  if (mode == 2) u.forward(3, scores);
  const bool windowed =
      u.node.integer("left_window_size", -1) >= 0 || u.node.integer("right_window_size", -1) >= 0;
  const bool masks =
      u.has_input(In::mask) && (seen != no_value || may_leave_no_position(u, u.node.inputs[In::mask]));
  const ValueId weights = weights_of(u, scores, masks || padded || windowed);
  if (mode == 3) u.forward(3, weights);
  u.node.attributes.clear();
  u.node.outputs.resize(1);
  if (flat) return join_heads(u, u.before("mixed", "MatMul", {weights, v}));
  u.node.op = "MatMul";
  u.node.inputs = {weights, v};
}

ValueId sliced(Upgrade& u, std::string_view role, ValueId x, std::int64_t begin, std::int64_t end,
               std::int64_t step) {
  const std::string name(role);
  return u.before(name, "Slice",
                  {x, u.integers(name + "_begin", {begin}), u.integers(name + "_end", {end}),
                   u.integers(name + "_axis", {-1}), u.integers(name + "_step", {step})});
}

// Su et al., "RoFormer", 2021: pairs of features turn by an angle that grows with the position.
void rotary_embedding(Upgrade& u) {
  constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
  const std::int64_t heads = u.node.integer("num_heads", 0);
  const bool unknown = u.has_input(0) && !u.graph.rank(u.node.inputs[0]);
  const bool flat = (unknown && heads > 0) || rank_of(u, 0) == 3,
             interleaved = u.node.integer("interleaved", 0) != 0;
  const std::int64_t part = u.node.integer("rotary_embedding_dim", 0);
  if (!u.has_input(1) || !u.has_input(2)) fail(Fault::model, "{}: the caches are missing", u.node.describe());
  ValueId x = u.node.inputs[0];
  if (flat) x = by_heads(u, "x", x, heads);
  // [batch, 1, positions, size / 2]
  const auto cache = [&](const char* role, std::size_t input) {
    ValueId values = u.node.inputs[input];
    if (u.has_input(3))
      values = u.before(std::string(role) + "_at", "Gather", {values, u.node.inputs[3]},
                        {{"axis", std::int64_t{0}}});
    return u.before(role, "Unsqueeze", {values, u.integers(std::string(role) + "_axis", {1})});
  };
  const ValueId cosine = cache("cosine", 1), sine = cache("sine", 2);
  const ValueId turning = part > 0 ? sliced(u, "turning", x, 0, part, 1) : x;
  ValueId first = no_value, second = no_value;
  if (interleaved) {
    first = sliced(u, "even", turning, 0, end, 2);
    second = sliced(u, "odd", turning, 1, end, 2);
  } else {
    const std::vector<ValueId> halves{u.graph.new_value(u.node.name + "/first"),
                                      u.graph.new_value(u.node.name + "/second")};
    u.graph.add({.name = u.graph.unique_node_name(u.node.name + "/halves"),
                 .op = "Split",
                 .inputs = {turning},
                 .outputs = halves,
                 .attributes = {{"axis", std::int64_t{-1}}, {"num_outputs", std::int64_t{2}}}});
    first = halves[0], second = halves[1];
  }
  const auto product = [&](const char* role, ValueId a, ValueId b) { return u.before(role, "Mul", {a, b}); };
  ValueId real =
      u.before("real", "Sub", {product("first_cosine", first, cosine), product("second_sine", second, sine)});
  ValueId imaginary = u.before(
      "imaginary", "Add", {product("first_sine", first, sine), product("second_cosine", second, cosine)});
  ValueId rotated = no_value;
  if (interleaved) {
    const ValueId last = u.integers("behind", {-1});
    real = u.before("real_upright", "Unsqueeze", {real, last});
    imaginary = u.before("imaginary_upright", "Unsqueeze", {imaginary, last});
    const ValueId pairs = u.before("pairs", "Concat", {real, imaginary}, {{"axis", std::int64_t{-1}}});
    rotated = u.before("turned", "Reshape", {pairs, u.integers("flat", {0, 0, 0, -1})});
  } else {
    rotated = u.before("turned", "Concat", {real, imaginary}, {{"axis", std::int64_t{-1}}});
  }
  if (part > 0) {
    const ValueId rest = sliced(u, "rest", x, part, end, 1);
    rotated = u.before("whole", "Concat", {rotated, rest}, {{"axis", std::int64_t{-1}}});
  }
  u.node.attributes.clear();
  if (flat) return join_heads(u, rotated);
  u.node.op = "Identity";
  u.node.inputs = {rotated};
}

}  // namespace

void upgrade_attention(Upgrade& upgrade) {
  if (upgrade.node.op == "Attention") attention(upgrade);
  if (upgrade.node.op == "RotaryEmbedding") rotary_embedding(upgrade);
}

}  // namespace assay::onnx_format
