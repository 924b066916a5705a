// Quantised arithmetic, taken apart into de-quantise, operator, quantise: of the standard, and of the domain
// com.microsoft, which common exporters write.

#include <algorithm>

#include <assay/error.h>
#include "assay/model/onnx/fold.h"
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/upgrades/upgrade.h"

namespace assay::onnx_format {
namespace {

// A value with its scale and zero point, as three inputs in a row.
struct Quantised {
  ValueId value = no_value, scale = no_value, zero = no_value;
};

ValueId input_or_none(const Upgrade& u, std::size_t i) {
  return u.has_input(i) ? u.node.inputs[i] : no_value;
}

Quantised quantised_input(const Upgrade& u, std::size_t first) {
  u.require_inputs({first, first + 1});
  return {u.node.inputs[first], u.node.inputs[first + 1], input_or_none(u, first + 2)};
}

// Constants become float32 constants, so that weights are weights.
ValueId dequantised(Upgrade& u, std::string_view role, const Quantised& x, std::int64_t axis) {
  const Node node{.name = {},
                  .op = "DequantizeLinear",
                  .inputs = {x.value, x.scale, x.zero},
                  .outputs = {},
                  .attributes = {{"axis", axis}}};
  if (auto values = dequantised_constant(node, u.graph)) return u.constant(role, std::move(*values));
  return u.before(role, node.op, node.inputs, node.attributes);
}

// The node computes in float32, and its result is quantised afterwards.
void quantise_after(Upgrade& u, ValueId scale, ValueId zero) {
  u.after("quantised", "QuantizeLinear", scale);
  if (zero != no_value) u.nodes_after.back().inputs.push_back(zero);
}

void quantise_after(Upgrade& u, std::size_t scale) {
  u.require_inputs({scale});
  quantise_after(u, u.node.inputs[scale], input_or_none(u, scale + 1));
}

// The product of both scales and a factor, in whose units a bias is.
ValueId bias_scale(Upgrade& u, ValueId a, ValueId b, float factor = 1) {
  const Array *const of_a = u.graph.constant(a), *const of_b = u.graph.constant(b);
  if (of_a == nullptr || of_b == nullptr || of_a->dtype() != DType::float32 ||
      of_b->dtype() != DType::float32 || of_a->count() != 1) {
    const ValueId product = u.before("bias_scale", "Mul", {a, b});
    if (factor == 1) return product;
    return u.before("bias_factor", "Mul",
                    {product, u.constant("factor", Array::of<float>({}, std::vector{factor}))});
  }
  std::vector<float> scales;
  for (const float one : of_b->as<float>()) scales.push_back(one * of_a->as<float>()[0] * factor);
  return u.constant("bias_scale", Array::of<float>(of_b->shape(), scales));
}

std::int64_t last_axis(const Upgrade& u, ValueId id) { return u.graph.rank(id).value_or(2) - 1; }

// The standard's
// ------------------------------------------------------------------------------------------------

void quantised_convolution(Upgrade& u) {
  u.require_inputs({6});
  const Quantised x = quantised_input(u, 0), w = quantised_input(u, 3);
  const ValueId bias = input_or_none(u, 8);
  quantise_after(u, 6);
  u.node.op = "Conv";
  u.node.inputs = {dequantised(u, "x", x, 1), dequantised(u, "weights", w, 0)};
  if (bias != no_value)
    u.node.inputs.push_back(dequantised(u, "bias", {bias, bias_scale(u, x.scale, w.scale)}, 0));
}

void quantised_product(Upgrade& u) {
  const Quantised a = quantised_input(u, 0), b = quantised_input(u, 3);
  quantise_after(u, 6);
  u.node.op = "MatMul";
  // One scale a row of the first matrix, one a column of the second.
  u.node.inputs = {dequantised(u, "a", a, std::max<std::int64_t>(0, last_axis(u, a.value) - 1)),
                   dequantised(u, "b", b, last_axis(u, b.value))};
}

// x and w less their zero points: integers.
void integer_product(Upgrade& u) {
  u.require_inputs({0, 1});
  const bool convolution = u.node.op == "ConvInteger";
  const ValueId one = u.constant("one", Array::of<float>({}, std::vector{1.0F}));
  const Quantised x{u.node.inputs[0], one, input_or_none(u, 2)},
      w{u.node.inputs[1], one, input_or_none(u, 3)};
  u.node.op = convolution ? "Conv" : "MatMul";
  u.node.inputs = {dequantised(u, "x", x, convolution ? 1 : 0),
                   dequantised(u, "w", w, convolution ? 0 : last_axis(u, w.value))};
}

// What is quantised to a type that Assay holds in a wider one keeps its declared range.
void quantise_to_declared_type(Upgrade& u) {
  u.node.attributes.erase("precision");
  const auto type = u.has_input(2) ? u.graph.element_type(u.node.inputs[2]) : std::nullopt;
  if (type && onnx_type(held_as(*type, u.node.describe())) != *type)
    u.node.attributes["output_dtype"] = std::int64_t{*type};
  if (u.node.has("output_dtype") && u.node.integer("output_dtype", 0) == 0)
    u.node.attributes.erase("output_dtype");
}

// Of common exporters (com.microsoft)
// ------------------------------------------------------------------------------------------------

// (A, B, result): each with scale and zero point.
void quantised_pair(Upgrade& u) {
  const Quantised a = quantised_input(u, 0), b = quantised_input(u, 3);
  quantise_after(u, 6);
  u.node.op = u.node.op.substr(std::string_view("QLinear").size());
  u.node.inputs = {dequantised(u, "a", a, 0), dequantised(u, "b", b, 0)};
}

// (condition, x, y, result)
void quantised_choice(Upgrade& u) {
  u.require_inputs({0});
  const Quantised x = quantised_input(u, 1), y = quantised_input(u, 4);
  quantise_after(u, 7);
  u.node.op = "Where";
  u.node.inputs = {u.node.inputs[0], dequantised(u, "x", x, 0), dequantised(u, "y", y, 0)};
}

// (x, result)
void quantised_single(Upgrade& u) {
  const Quantised x = quantised_input(u, 0);
  quantise_after(u, 3);
  u.node.op = u.node.op.substr(std::string_view("QLinear").size());
  u.node.inputs = {dequantised(u, "x", x, 0)};
}

void quantised_softmax(Upgrade& u) {
  const std::int64_t opset = u.node.integer("opset", 13);
  u.node.attributes.erase("opset");
  const std::int64_t axis = u.node.integer("axis", opset < 13 ? 1 : -1);
  const auto rank = u.has_input(0) ? u.graph.rank(u.node.inputs[0]) : std::nullopt;
  if (opset < 13 && axis != -1 && (!rank || axis != *rank - 1))
    fail(Fault::unsupported, "{}: over several axes at once (operator set {})", u.node.describe(), opset);
  u.node.attributes["axis"] = opset < 13 ? std::int64_t{-1} : axis;
  quantised_single(u);
}

// As quantised_single(); channels may stand last.
void quantised_pooling(Upgrade& u) {
  const bool last = u.node.integer("channels_last", 0) != 0;
  u.node.attributes.erase("channels_last");
  const auto rank = u.has_input(0) ? u.graph.rank(u.node.inputs[0]) : std::nullopt;
  if (last && (!rank || *rank < 3))
    fail(Fault::unsupported, "{}: channels are the last of an unknown number of axes", u.node.describe());
  if (!last) return quantised_single(u);
  std::vector<std::int64_t> forward{0, *rank - 1}, back{0};
  for (std::int64_t i = 1; i + 1 < *rank; ++i) forward.push_back(i);
  for (std::int64_t i = 2; i < *rank; ++i) back.push_back(i);
  back.push_back(1);
  quantised_single(u);
  u.node.inputs[0] = u.before("channels_first", "Transpose", {u.node.inputs[0]}, {{"perm", forward}});
  u.after("channels_last", "Transpose");
  u.nodes_after.back().attributes["perm"] = back;
}

// (scale and zero point of the result, then each part with its own)
void quantised_concat(Upgrade& u) {
  if (u.node.inputs.size() < 5 || (u.node.inputs.size() - 2) % 3 != 0)
    fail(Fault::model, "{}: {} inputs", u.node.describe(), u.node.inputs.size());
  std::vector<ValueId> parts;
  for (std::size_t i = 2; i < u.node.inputs.size(); i += 3)
    parts.push_back(dequantised(u, "part", quantised_input(u, i), 0));
  quantise_after(u, 0);
  u.node.op = "Concat";
  u.node.inputs = std::move(parts);
}

void quantised_gemm(Upgrade& u) {
  const Quantised a = quantised_input(u, 0), b = quantised_input(u, 3);
  const ValueId bias = input_or_none(u, 6);
  if (u.has_input(7)) quantise_after(u, 7);  // otherwise the result stays in float32
  const float alpha = u.node.real("alpha", 1);
  const bool flipped = u.node.integer("transB", 0) != 0;
  u.node.op = "Gemm";
  const std::int64_t columns = flipped ? 0 : 1;
  u.node.inputs = {dequantised(u, "a", a, 0), dequantised(u, "b", b, columns)};
  if (bias == no_value) return;
  const std::int64_t along = last_axis(u, bias);
  u.node.inputs.push_back(dequantised(u, "bias", {bias, bias_scale(u, a.scale, b.scale, alpha)}, along));
}

// (A, B, scales, zero points, bias): the result stays in float32.
void product_to_float(Upgrade& u) {
  u.require_inputs({0, 1, 2, 3});
  const Quantised a{u.node.inputs[0], u.node.inputs[2], input_or_none(u, 4)},
      b{u.node.inputs[1], u.node.inputs[3], input_or_none(u, 5)};
  const ValueId bias = input_or_none(u, 6);
  u.node.op = "MatMul";
  u.node.inputs = {dequantised(u, "a", a, std::max<std::int64_t>(0, last_axis(u, a.value) - 1)),
                   dequantised(u, "b", b, last_axis(u, b.value))};
  if (bias != no_value) u.after("biased", "Add", bias);
}

// What is in float32, quantised on the way by one scale for the whole tensor.
Quantised dynamically_quantised(Upgrade& u, ValueId x) {
  const std::string name = u.graph.unique_node_name(fmt::format("{}/a_quantised", u.node.name));
  const Quantised a{u.graph.new_value(name), u.graph.new_value(name + "/scale"),
                    u.graph.new_value(name + "/zero")};
  u.graph.add({.name = name,
               .op = "DynamicQuantizeLinear",
               .inputs = {x},
               .outputs = {a.value, a.scale, a.zero},
               .attributes = {}});
  return a;
}

// (A, B, scale, zero point, bias)
void dynamic_product(Upgrade& u) {
  u.require_inputs({0, 1, 2});
  const Quantised b{u.node.inputs[1], u.node.inputs[2], input_or_none(u, 3)};
  const ValueId bias = input_or_none(u, 4);
  const Quantised a = dynamically_quantised(u, u.node.inputs[0]);
  u.node.op = "MatMul";
  u.node.inputs = {dequantised(u, "a", a, 0), dequantised(u, "b", b, last_axis(u, b.value))};
  if (bias != no_value) u.after("biased", "Add", bias);
}

// Weights of a quantised LSTM, [directions, columns, 4 * hidden], as the standard's [directions, 4 * hidden,
// columns] in float32; scales and zero points are one a direction, or one for each of its gates' units.
ValueId recurrent_weights(Upgrade& u, std::string_view role, std::size_t input, std::size_t first_scale) {
  u.require_inputs({input, first_scale});
  const Array *const whole = u.graph.constant(u.node.inputs[input]), *const scale = u.graph.constant(
                                                                         u.node.inputs[first_scale]);
  const bool has_zero = u.has_input(first_scale + 1);
  const Array* const zero = has_zero ? u.graph.constant(u.node.inputs[first_scale + 1]) : nullptr;
  if (whole == nullptr || scale == nullptr || (has_zero && zero == nullptr))
    fail(Fault::unsupported, "{}: weights that are not constants", u.node.describe());
  const Shape& shape = whole->shape();
  if (shape.size() != 3 || scale->dtype() != DType::float32 ||
      (scale->count() != shape[0] && scale->count() != shape[0] * shape[2]) ||
      (has_zero && zero->count() != scale->count()))
    fail(Fault::model, "{}: {} scales do not fit weights of the shape {}", u.node.describe(), scale->count(),
         to_string(shape));
  const Array numbers = whole->to(DType::float32);
  const Array zeros = has_zero ? zero->to(DType::float32) : Array::zeros(DType::float32, scale->shape());
  const std::int64_t columns = shape[1], rows = shape[2], each = scale->count() == shape[0] ? 1 : rows;
  std::vector<float> values(whole->count());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t at = i;
    const std::int64_t direction = at / (columns * rows), column = at / rows % columns, row = at % rows;
    const std::size_t one = direction * each + row % each;
    values[(direction * rows + row) * columns + column] =
        (numbers.as<float>()[i] - zeros.as<float>()[one]) * scale->as<float>()[one];
  }
  return u.constant(role, Array::of<float>({shape[0], rows, columns}, values));
}

// An LSTM whose input and state are quantised on the way, each by one scale for all records of a batch.
void dynamic_lstm(Upgrade& u) {
  u.require_inputs({0, 1, 2});
  const ValueId weights = recurrent_weights(u, "weights", 1, 8),
                recurrent = recurrent_weights(u, "recurrent_weights", 2, 10);
  u.node.op = "LSTM";
  u.node.inputs.resize(8, no_value);
  u.node.inputs[0] = dequantised(u, "x", dynamically_quantised(u, u.node.inputs[0]), 0);
  u.node.inputs[1] = weights;
  u.node.inputs[2] = recurrent;
  u.node.attributes["quantised_state"] = std::int64_t{1};
}

struct QuantisedRule {
  std::string_view op;
  bool extension;  // of the domain com.microsoft
  void (*apply)(Upgrade&);
};

constexpr QuantisedRule quantised_rules[] = {
    {"ConvInteger", false, integer_product},
    {"DequantizeLinear", true, [](Upgrade&) {}},
    {"DynamicQuantizeLSTM", true, dynamic_lstm},
    {"DynamicQuantizeMatMul", true, dynamic_product},
    {"MatMulInteger", false, integer_product},
    {"MatMulIntegerToFloat", true, product_to_float},
    {"QGemm", true, quantised_gemm},
    {"QLinearAdd", true, quantised_pair},
    {"QLinearAveragePool", true, quantised_pooling},
    {"QLinearConcat", true, quantised_concat},
    {"QLinearConv", false, quantised_convolution},
    {"QLinearGlobalAveragePool", true, quantised_pooling},
    {"QLinearLeakyRelu", true, quantised_single},
    {"QLinearMatMul", false, quantised_product},
    {"QLinearMul", true, quantised_pair},
    {"QLinearSigmoid", true, quantised_single},
    {"QLinearSoftmax", true, quantised_softmax},
    {"QLinearWhere", true, quantised_choice},
    {"QuantizeLinear", true, quantise_to_declared_type},
};

const QuantisedRule* rule_of(std::string_view op) {
  const auto found = std::ranges::find(quantised_rules, op, &QuantisedRule::op);
  return found == std::end(quantised_rules) ? nullptr : found;
}

}  // namespace

void upgrade_quantised(Upgrade& upgrade) {
  if (const QuantisedRule* rule = rule_of(upgrade.node.op)) rule->apply(upgrade);
}

bool is_quantised_extension(std::string_view op) {
  const QuantisedRule* rule = rule_of(op);
  return rule != nullptr && rule->extension;
}

}  // namespace assay::onnx_format
