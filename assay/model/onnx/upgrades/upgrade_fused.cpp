// Root-mean-square normalisation, and operators that ONNX Runtime's graph optimisations fuse (domain
// com.microsoft), as the operators that they stand for. What they compute is in that project's list of
// contributed operators.

#include <algorithm>
#include <limits>
#include <optional>

#include <assay/error.h>
#include "assay/model/onnx/fold.h"
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/upgrades/upgrade.h"

namespace assay::onnx_format {
namespace {

using Numbers = std::vector<std::int64_t>;

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
  u.behind("activation", name);
  Node& node = u.nodes_behind.back();
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
  if (sum != no_value) u.behind("sum", "Add", sum);
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
    for (std::int64_t c = 0; c < columns; ++c)
      to[static_cast<std::size_t>(c * rows + r)] = from[static_cast<std::size_t>(r * columns + c)];
  }
  return Array::of<float>({columns, rows}, to);
}

ValueId turned(Upgrade& u, std::size_t input, const char* attribute, const char* role) {
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
  if (alpha != 1) u.behind("scaled", "Mul", u.real("alpha", alpha));
  const ValueId a = turned(u, 0, "transA", "a_turned"), b = turned(u, 1, "transB", "b_turned");
  u.node.op = "MatMul";
  u.node.inputs = {a, b};
  u.node.attributes.clear();
}

// Numbers of 2, 4 or 8 bits, the lowest bits of a byte first.
class PackedNumbers {
 public:
  PackedNumbers(std::span<const std::uint8_t> bytes, std::int64_t bits) : bytes_(bytes), bits_(bits) {}
  float operator[](std::int64_t i) const {
    const std::int64_t bit = i * bits_;
    const unsigned byte = bytes_[static_cast<std::size_t>(bit / 8)];
    return static_cast<float>((byte >> (bit % 8)) & ((1U << bits_) - 1));
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::int64_t bits_;
};

// (A, B, scales, zero points, groups, bias): B [columns, blocks, bytes] holds a block of rows after the
// other.
void few_bits_product(Upgrade& u) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // elements, as files hold at most
  const std::int64_t rows = u.node.integer("K", 0), columns = u.node.integer("N", 0),
                     bits = u.node.integer("bits", 4), block = u.node.integer("block_size", 0);
  const ValueId a = needed(u, 0), bias = optional_input(u, 5);
  if (rows < 1 || columns < 1 || block < 1 || rows > most || columns > most || block > most ||
      rows * columns > most)
    fail(Fault::model, "{}: K {}, N {}, block_size {}", u.node.describe(), rows, columns, block);
  refuse(u, bits != 2 && bits != 4 && bits != 8, fmt::format("a number of {} bits", bits));
  const std::int64_t blocks = (rows + block - 1) / block, block_bytes = (block * bits + 7) / 8,
                     zero_bytes = (blocks * bits + 7) / 8;
  const auto known = [&](std::size_t input, std::initializer_list<DType> types, std::int64_t count) {
    const Array* array = u.graph.constant(needed(u, input));
    if (array == nullptr)
      fail(Fault::unsupported, "{}: input {} is computed; it has to be a constant", u.node.describe(), input);
    if (std::ranges::find(types, array->dtype()) == types.end() || array->count() != count)
      fail(Fault::model, "{}: input {} holds {} elements of {}; {} are needed", u.node.describe(), input,
           array->count(), to_string(array->dtype()), count);
    return array;
  };
  const Array *const packed = known(1, {DType::uint8}, columns * blocks * block_bytes), *const scales = known(
                                                                                            2,
                                                                                            {DType::float32},
                                                                                            columns * blocks);
  const Array* zeros = u.has_input(3) ? u.graph.constant(u.node.inputs[3]) : nullptr;
  const bool real_zeros = zeros != nullptr && zeros->dtype() == DType::float32;
  if (u.has_input(3))
    zeros = known(3, {DType::uint8, DType::float32}, columns * (real_zeros ? blocks : zero_bytes));
  const Array* groups = u.has_input(4) ? u.graph.constant(u.node.inputs[4]) : nullptr;
  refuse(u, u.has_input(4) && groups == nullptr, "a computed input 4");
  const Array places = groups == nullptr ? Array{} : groups->to(DType::int64);
  if (groups != nullptr && places.count() < rows)
    fail(Fault::model, "{}: {} groups for {} rows", u.node.describe(), places.count(), rows);
  std::vector<float> weights(static_cast<std::size_t>(rows * columns));
  for (std::int64_t n = 0; n < columns; ++n) {
    const auto bytes = packed->as<std::uint8_t>().subspan(static_cast<std::size_t>(n * blocks * block_bytes));
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::int64_t group =
          groups == nullptr ? k / block : places.as<std::int64_t>()[static_cast<std::size_t>(k)];
      if (group < 0 || group >= blocks)
        fail(Fault::model, "{}: row {} is of group {}; there are {}", u.node.describe(), k, group, blocks);
      const auto at = static_cast<std::size_t>(n * blocks + group);
      float zero = static_cast<float>(1 << (bits - 1));
      if (real_zeros) {
        zero = zeros->as<float>()[at];
      } else if (zeros != nullptr) {
        zero = PackedNumbers(zeros->as<std::uint8_t>().subspan(static_cast<std::size_t>(n * zero_bytes)),
                             bits)[group];
      }
      const float number =
          PackedNumbers(bytes.subspan(static_cast<std::size_t>(k / block * block_bytes)), bits)[k % block];
      weights[static_cast<std::size_t>(k * columns + n)] = (number - zero) * scales->as<float>()[at];
    }
  }
  if (bias != no_value) u.behind("biased", "Add", bias);
  u.node.inputs = {a, u.constant("weights", Array::of<float>({rows, columns}, weights))};
  u.node.op = "MatMul";
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

// Attention
// ------------------------------------------------------------------------------------------------

ValueId unsqueezed(Upgrade& u, std::string_view role, ValueId x, const Numbers& axes) {
  return u.before(role, "Unsqueeze", {x, u.integers(std::string(role) + "_axes", axes)});
}

// Of a constant the constant, as the reader would make of the node.
ValueId cast(Upgrade& u, std::string_view role, ValueId x, DType type) {
  if (const Array* known = u.graph.constant(x)) return u.constant(role, known->to(type));
  return u.before(role, "Cast", {x}, {{"to", std::int64_t{onnx_type(type)}}});
}

// What is added to the scores [batch, heads, queries, keys], of a mask that is 1 where a key is seen: for
// each key of a record, each query and key, or the number of keys of a record. `keys` has the keys on axis 1.
ValueId bias_of_mask(Upgrade& u, std::size_t input, ValueId keys) {
  const std::int64_t rank = known_rank(u, input);
  ValueId mask = u.node.inputs[input];
  if (rank == 1) {
    const ValueId length = cast(u, "lengths", mask, DType::int64);
    mask =
        u.before("seen", "Less", {u.places("keys", keys, 1), unsqueezed(u, "lengths_upright", length, {1})});
  }
  refuse(u, rank > 3, fmt::format("a mask with {} axes", rank));
  const ValueId hidden = u.before("hidden", "Sub", {u.real("all", 1), cast(u, "mask", mask, DType::float32)});
  const ValueId bias =
      u.before("mask_bias", "Mul", {hidden, u.real("filter", u.node.real("mask_filter_value", -10000.0F))});
  return rank == 3 ? unsqueezed(u, "bias_of_heads", bias, {1}) : unsqueezed(u, "bias_of_heads", bias, {1, 2});
}

// As the standard's Attention, of queries, keys and values [batch, positions, heads * size].
void attend(Upgrade& u, ValueId q, ValueId k, ValueId v, std::size_t mask, std::size_t bias) {
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
  u.node.inputs = {q, k, v, added};
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

// (x, weights, bias, mask, past, bias of scores): the projections are part of it.
void attention_of_weights(Upgrade& u, ValueId x, ValueId weights) {
  refuse(u, u.has_input(4) || u.has_input(6), "a past");
  refuse(u, u.node.integer("do_rotary", 0) != 0, "rotation of positions");
  ValueId all = u.before("projected", "MatMul", {x, weights});
  if (u.has_input(2)) all = u.before("biased", "Add", {all, u.node.inputs[2]});
  const auto qkv = parts(u, "parts", all, -1, 3, u.node.integers("qkv_hidden_sizes", {}));
  present_of_both(u);
  attend(u, qkv[0], qkv[1], qkv[2], 3, 5);
}

void fused_attention(Upgrade& u) { attention_of_weights(u, needed(u, 0), needed(u, 1)); }

// (x, weights, bias, scale of x, scale of weights, mask, zero of x, zero of weights, past)
void quantised_attention(Upgrade& u) {
  const auto whole = [&](const char* role, std::size_t value, std::size_t scale, std::size_t zero) {
    const Node node{.name = {},
                    .op = "DequantizeLinear",
                    .inputs = {needed(u, value), needed(u, scale), optional_input(u, zero)},
                    .outputs = {},
                    .attributes = {{"axis", std::int64_t{1}}}};
    if (auto values = dequantised_constant(node, u.graph)) return u.constant(role, std::move(*values));
    return u.before(role, node.op, node.inputs, node.attributes);
  };
  refuse(u, u.has_input(8), "a past");
  const ValueId x = whole("x", 0, 3, 6), weights = whole("weights", 1, 4, 7);
  u.node.inputs = {x, weights, needed(u, 2), optional_input(u, 5)};
  attention_of_weights(u, x, weights);
}

// [batch, heads, positions, size] -> [batch, positions, heads * size]; three axes stay.
ValueId by_position(Upgrade& u, std::string_view role, ValueId x) {
  if (u.graph.rank(x) != 4) return x;
  const std::string name(role);
  const ValueId turned = u.before(name + "_turned", "Transpose", {x}, {{"perm", Numbers{0, 2, 1, 3}}});
  return u.before(name + "_flat", "Reshape", {turned, u.integers(name + "_shape", {0, 0, -1})});
}

// [batch, positions, heads, count, size] -> that many of [batch, positions, heads * size]
std::vector<ValueId> unpacked(Upgrade& u, std::string_view role, ValueId x, std::size_t count) {
  std::vector<ValueId> all;
  for (const ValueId part : parts(u, role, x, 3, count))
    all.push_back(u.before("flat", "Reshape", {part, u.integers("flat_shape", {0, 0, -1})}));
  return all;
}

// (query, key, value, bias, mask, bias of scores, past...)
void multi_head_attention(Upgrade& u) {
  for (std::size_t i = 6; i < u.node.inputs.size(); ++i) refuse(u, u.has_input(i), "a past");
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
  attend(u, q, k, v, 4, 5);
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

struct FusedRule {
  std::string_view op;
  void (*apply)(Upgrade&);
};

constexpr FusedRule extensions[] = {
    {"Attention", fused_attention},
    {"BiasGelu", bias_gelu},
    {"EmbedLayerNormalization", embed_layer_normalization},
    {"FastGelu", fast_gelu},
    {"FusedConv", fused_convolution},
    {"FusedGemm", fused_gemm},
    {"FusedMatMul", fused_product},
    {"FusedMatMulActivation", fused_product},
    {"Gelu", exact_gelu},
    {"MatMulNBits", few_bits_product},
    {"MultiHeadAttention", multi_head_attention},
    {"QAttention", quantised_attention},
    {"QuickGelu", quick_gelu},
    {"RotaryEmbedding", fused_rotary_embedding},
    {"SimplifiedLayerNormalization", rms_normalization},
    {"SkipLayerNormalization", skip_layer_normalization},
    {"SkipSimplifiedLayerNormalization", skip_rms_normalization},
    {"TransposeMatMul", fused_product},
    {"Trilu", [](Upgrade& u) { u.node.op = "Trilu"; }},
};

const FusedRule* extension(std::string_view op) {
  const auto found = std::ranges::find(extensions, op, &FusedRule::op);
  return found == std::end(extensions) ? nullptr : found;
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
