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
  const ValueId turned = u.before("by_position", "Transpose", {x}, {{"perm", Numbers{0, 2, 1, 3}}});
  u.node.op = "Reshape";
  u.node.inputs = {turned, u.integers("joined", {0, 0, -1})};
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
  const auto length = static_cast<std::size_t>(given->shape().back());
  const Array numbers = given->to(DType::float32);
  const auto values = numbers.as<float>();
  const float never = given->dtype() == DType::boolean ? 0.0F : -std::numeric_limits<float>::infinity();
  for (std::size_t row = 0; row < values.size(); row += length) {
    const auto of_row = values.subspan(row, length);
    if (std::ranges::all_of(of_row, [&](float value) { return value == never; })) return true;
  }
  return false;
}

// A softmax along rows; rows that a mask leaves no position have no weights.
ValueId weights_of(Upgrade& u, ValueId scores) {
  const std::map<std::string, Attribute> last{{"axis", std::int64_t{-1}}};
  const bool causal = u.node.integer("is_causal", 0) != 0;
  if (!u.has_input(3) || (!causal && !may_leave_no_position(u, u.node.inputs[3])))
    return u.before("weights", "Softmax", {scores}, last);
  const ValueId most = u.before("greatest", "ReduceMax", {scores, u.integers("last", {-1})});
  const ValueId none =
      u.before("none", "Equal", {most, u.real("never", -std::numeric_limits<float>::infinity())});
  const ValueId zero = u.real("zero", 0);
  const ValueId some = u.before("some_scores", "Where", {none, zero, scores});
  return u.before("weights", "Where", {none, zero, u.before("some_weights", "Softmax", {some}, last)});
}

// Vaswani et al., "Attention is all you need", 2017; grouped as in Ainslie et al., 2023.
void attention(Upgrade& u) {
  // The number of heads is said of three axes only.
  const bool flat = u.node.integer("q_num_heads", 0) > 0 || rank_of(u, 0) == 3;
  const auto heads_in = [&](std::size_t input, const char* attribute) {
    if (flat) return u.node.integer(attribute, 0);
    return u.graph.dimension(u.node.inputs[input], 1).value_or(1);
  };
  if (!flat) rank_of(u, 1), rank_of(u, 2);
  const std::int64_t heads = heads_in(0, "q_num_heads"), groups = heads_in(1, "kv_num_heads");
  const bool causal = u.node.integer("is_causal", 0) != 0, past = u.has_input(4);
  const float softcap = u.node.real("softcap", 0);
  if ((softcap != 0 && (causal || u.has_input(3))) || (causal && past) || u.has_input(6))
    fail(Fault::unsupported,
         "{}: a soft cap beside a mask, a causal mask beside past keys, and lengths without padding "
         "are not supported",
         u.node.describe());
  if (past != u.has_input(5))
    fail(Fault::model, "{}: past keys and values belong together", u.node.describe());
  ValueId q = u.node.inputs[0], k = u.node.inputs[1], v = u.node.inputs[2];
  if (flat) {
    q = by_heads(u, "queries", q, heads);
    k = by_heads(u, "keys", k, groups);
    v = by_heads(u, "values", v, groups);
  }
  if (past) {
    k = u.before("all_keys", "Concat", {u.node.inputs[4], k}, {{"axis", std::int64_t{2}}});
    v = u.before("all_values", "Concat", {u.node.inputs[5], v}, {{"axis", std::int64_t{2}}});
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
  const ValueId turned = u.before("turned_keys", "Transpose", {k}, {{"perm", Numbers{0, 1, 3, 2}}});
  ValueId scores = u.before("scores", "MatMul", {q, turned});
  const std::int64_t mode = u.node.integer("qk_matmul_output_mode", 0);
  if (mode == 0) u.forward(3, scores);
  if (u.has_input(3)) {
    const bool truth = u.graph.element_type(u.node.inputs[3]) == onnx::TensorProto::BOOL;
    scores = truth ? masked(u, "masked", scores, u.node.inputs[3])
                   : u.before("biased", "Add", {scores, u.node.inputs[3]});
  }
  if (causal) {
    const ValueId seen =
        u.before("seen", "GreaterOrEqual", {positions_of(u, "rows", q, 1), positions_of(u, "columns", k, 0)});
    scores = masked(u, "causal", scores, seen);
  }
  if (mode == 1) u.forward(3, scores);
  if (softcap != 0) {
    const ValueId cap = u.real("cap", softcap);
    scores = u.before("capped", "Mul",
                      {u.before("cap_tanh", "Tanh", {u.before("uncapped", "Div", {scores, cap})}), cap});
  }
  if (mode == 2) u.forward(3, scores);
  const ValueId weights = weights_of(u, scores);
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
  ValueId turned = no_value;
  if (interleaved) {
    const ValueId behind = u.integers("behind", {-1});
    real = u.before("real_upright", "Unsqueeze", {real, behind});
    imaginary = u.before("imaginary_upright", "Unsqueeze", {imaginary, behind});
    const ValueId pairs = u.before("pairs", "Concat", {real, imaginary}, {{"axis", std::int64_t{-1}}});
    turned = u.before("turned", "Reshape", {pairs, u.integers("flat", {0, 0, 0, -1})});
  } else {
    turned = u.before("turned", "Concat", {real, imaginary}, {{"axis", std::int64_t{-1}}});
  }
  if (part > 0) {
    const ValueId rest = sliced(u, "rest", x, part, end, 1);
    turned = u.before("whole", "Concat", {turned, rest}, {{"axis", std::int64_t{-1}}});
  }
  u.node.attributes.clear();
  if (flat) return join_heads(u, turned);
  u.node.op = "Identity";
  u.node.inputs = {turned};
}

}  // namespace

void upgrade_attention(Upgrade& upgrade) {
  if (upgrade.node.op == "Attention") attention(upgrade);
  if (upgrade.node.op == "RotaryEmbedding") rotary_embedding(upgrade);
}

}  // namespace assay::onnx_format
