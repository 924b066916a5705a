#include <assay/extend/operator_traits.h>

#include <algorithm>

namespace assay::inline model::operator_table {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Bounds that attributes or constants decide
// -------------------------------------------------------------------------------------------

double bound_at(const Graph& graph, const Node& node, std::size_t input, double otherwise) {
  if (input >= node.inputs.size() || node.inputs[input] == no_value) return otherwise;
  const bool known = graph.is_constant(node.inputs[input]);
  const Array* array = known ? &graph.constant(node.inputs[input]) : nullptr;
  return known && array->count() == 1 ? array->to(DType::float64).as<double>()[0] : otherwise;
}

ValueRange clip(const Graph& graph, const Node& node) {
  return {bound_at(graph, node, 1, -infinity), bound_at(graph, node, 2, infinity)};
}

ValueRange elu(const Graph&, const Node& node) {
  return {std::min(0.0, -static_cast<double>(node.real("alpha", 1))), infinity};
}

// Falls without end where alpha is negative.
ValueRange celu(const Graph&, const Node& node) {
  const float alpha = node.real("alpha", 1);
  return {alpha > 0 ? -alpha : -infinity, infinity};
}

ValueRange selu(const Graph&, const Node& node) {
  const float alpha = node.real("alpha", 1.67326319217681884765625F);
  const float gamma = node.real("gamma", 1.05070102214813232421875F);
  return gamma >= 0 ? ValueRange{std::min(0.0F, -(alpha * gamma)), infinity} : ValueRange{};
}

ValueRange swish(const Graph&, const Node& node) {
  const float alpha = node.real("alpha", 1);
  const double bound = -0.2785 / alpha;  // of x sigmoid(x) it is -0.27846...
  return alpha > 0 ? ValueRange{bound, infinity} : alpha < 0 ? ValueRange{-infinity, bound} : ValueRange{};
}

ValueRange straight_through(const Graph&, const Node& node) {
  return node.text("step", "") == "Sign" ? ValueRange{-1, 1} : ValueRange{};
}

ValueRange thresholded_relu(const Graph&, const Node& node) {
  return {std::min(0.0F, node.real("alpha", 1)), infinity};
}

// The table
// -------------------------------------------------------------------------------------------

using enum OperatorKind;
using enum Trait;

constexpr Trait per_element = same_rank | by_channel;
constexpr ValueRange any = {}, positive = {0, infinity}, negative = {-infinity, 0};
constexpr ValueRange unit = {0, 1}, around_zero = {-1, 1};

constexpr OperatorTraits table[] = {
    {"Abs", function, per_element},
    {"Acos", function, per_element},
    {"Acosh", function, per_element},
    {"Add", arithmetic, broadcasts | affine | linear},
    {"AffineGrid", generator, cuts_relevance},
    {"And", truth, broadcasts | cuts_relevance},
    {"ArgMax", index, cuts_relevance},
    {"ArgMin", index, cuts_relevance},
    {"Asin", function, per_element},
    {"Asinh", function, per_element},
    {"Atan", function, per_element},
    {"Atanh", function, per_element},
    {"AveragePool", pooling, same_rank | by_channel | linear},
    {"BatchNormalization", normalisation, same_rank | by_channel | linear | in_training},
    {"BitCast", other},
    {"BitShift", other},
    {"BitwiseAnd", other},
    {"BitwiseNot", other},
    {"BitwiseOr", other},
    {"BitwiseXor", other},
    {"BlackmanWindow", generator, cuts_relevance},
    {"Cast", pass_through, per_element | linear},
    {"CastLike", pass_through, per_element | linear},
    {"Ceil", function, per_element},
    {"Celu", activation, per_element | monotone, any, celu},
    {"CenterCropPad", movement, same_rank | linear},
    {"Clip", activation, per_element | monotone | weak_gate, any, clip},
    {"Col2Im", other, linear},
    {"Compress", movement, linear},
    {"Concat", movement, same_rank | linear},
    {"ConstantOfShape", generator, cuts_relevance},
    {"Conv", convolution, same_rank | bilinear},
    {"ConvTranspose", convolution, same_rank | bilinear},
    {"Cos", function, per_element},
    {"Cosh", function, per_element},
    {"CumProd", other, same_rank},
    {"CumSum", other, same_rank | linear},
    {"DFT", other, same_rank | linear},
    {"DeformConv", other},
    {"DepthToSpace", movement, same_rank | linear},
    {"DequantizeLinear", pass_through, per_element | linear},
    {"Det", other},
    {"Div", arithmetic, broadcasts | affine},
    {"Dropout", pass_through, per_element | linear | in_training},
    {"DynamicQuantizeLinear", pass_through, same_rank},  // rounds
    {"Einsum", dense},
    {"Elu", activation, per_element | monotone, any, elu},
    {"Equal", truth, broadcasts | cuts_relevance},
    {"Erf", function, per_element | strong_gate},
    {"Exp", function, per_element},
    {"Expand", movement, linear},
    {"EyeLike", generator, same_rank | cuts_relevance},
    {"Flatten", movement, reshapes | linear},
    {"Floor", function, per_element},
    {"GRU", recurrent},
    {"Gather", movement, linear},
    {"GatherElements", movement, same_rank | linear},
    {"GatherND", movement, linear},
    {"Gelu", activation, per_element, {-0.1701, infinity}},
    {"Gemm", dense, bilinear},
    {"GlobalAveragePool", pooling, same_rank | by_channel | linear},
    {"GlobalLpPool", pooling, same_rank | by_channel},
    {"GlobalMaxPool", pooling, same_rank | by_channel | selects},
    {"Greater", truth, broadcasts | cuts_relevance},
    {"GreaterOrEqual", truth, broadcasts | cuts_relevance},
    {"GridSample", other, same_rank | linear},
    {"GroupNormalization", normalisation, same_rank},
    {"HammingWindow", generator, cuts_relevance},
    {"HannWindow", generator, cuts_relevance},
    {"HardSigmoid", activation, per_element | monotone | strong_gate, unit},
    {"HardSwish", activation, per_element, {-0.375, infinity}},
    {"Hardmax", softmax, same_rank, unit},
    {"Identity", pass_through, per_element | linear},
    {"If", other},
    {"InstanceNormalization", normalisation, same_rank | by_channel},
    {"IsInf", truth, per_element | cuts_relevance},
    {"IsNaN", truth, per_element | cuts_relevance},
    {"LRN", normalisation, same_rank},
    {"LSTM", recurrent},
    {"LayerNormalization", normalisation, same_rank},
    {"LeakyRelu", activation, per_element | monotone},
    {"Less", truth, broadcasts | cuts_relevance},
    {"LessOrEqual", truth, broadcasts | cuts_relevance},
    {"LinearAttention", other},
    {"Log", function, per_element},
    {"LogSoftmax", softmax, same_rank, negative},
    {"Loop", other},
    {"LpNormalization", normalisation, same_rank},
    {"LpPool", pooling, same_rank | by_channel},
    {"MatMul", dense, bilinear},
    {"Max", arithmetic, broadcasts},
    {"MaxPool", pooling, same_rank | by_channel | selects},
    {"MaxUnpool", movement, same_rank | linear},
    {"Mean", arithmetic, broadcasts | affine | linear},
    {"MeanVarianceNormalization", normalisation, same_rank},
    {"MelWeightMatrix", generator, cuts_relevance},
    {"Min", arithmetic, broadcasts},
    {"Mish", activation, per_element, {-0.309, infinity}},
    {"Mod", arithmetic, broadcasts},
    {"Mul", arithmetic, broadcasts | affine | bilinear},
    {"Neg", function, per_element | affine | linear},
    {"NegativeLogLikelihoodLoss", other},
    {"NonMaxSuppression", index, cuts_relevance},
    {"NonZero", index, cuts_relevance},
    {"Not", truth, per_element | cuts_relevance},
    {"OneHot", generator, cuts_relevance},
    {"Or", truth, broadcasts | cuts_relevance},
    {"PRelu", activation, per_element | broadcasts | monotone},
    {"Pad", movement, same_rank | linear},
    {"Pow", arithmetic, broadcasts},
    {"QuantizeLinear", pass_through, per_element},  // rounds
    {"RNN", recurrent},
    {"Range", generator, cuts_relevance},
    {"Reciprocal", function, per_element | strong_gate},
    {"ReduceL1", reduction},
    {"ReduceL2", reduction},
    {"ReduceLogSum", reduction},
    {"ReduceLogSumExp", reduction},
    {"ReduceMax", reduction, selects},
    {"ReduceMean", reduction, linear},
    {"ReduceMin", reduction, selects},
    {"ReduceProd", reduction},
    {"ReduceSum", reduction, linear},
    {"ReduceSumSquare", reduction},
    {"Relu", activation, per_element | monotone | rectifies, positive},
    {"Reshape", movement, reshapes | linear},
    {"Resize", movement, same_rank | linear},
    {"ReverseSequence", movement, same_rank | linear},
    {"RoiAlign", other, same_rank},
    {"Round", function, per_element},
    {"STFT", other},
    {"Scan", other},
    {"ScatterElements", movement, same_rank},
    {"ScatterND", movement, same_rank},
    {"Selu", activation, per_element | monotone, any, selu},
    {"Shape", index, cuts_relevance},
    {"Shrink", activation, per_element | monotone},
    {"Sigmoid", activation, per_element | monotone | strong_gate, unit},
    {"Sign", activation, per_element | monotone | cuts_relevance, around_zero},
    {"Sin", function, per_element},
    {"Sinh", function, per_element},
    {"Size", index, cuts_relevance},
    {"Slice", movement, same_rank | linear},
    {"Softmax", softmax, same_rank | strong_gate, unit},
    {"SoftmaxCrossEntropyLoss", other},
    {"Softplus", activation, per_element | monotone, positive},
    {"Softsign", activation, per_element | monotone, around_zero},
    {"SpaceToDepth", movement, same_rank | linear},
    {"Split", movement, same_rank | linear},
    {"Sqrt", function, per_element | strong_gate},
    {"Squeeze", movement, reshapes | linear},
    {"StraightThrough", activation, per_element | monotone, any, straight_through},
    {"Sub", arithmetic, broadcasts | affine | linear},
    {"Sum", arithmetic, broadcasts | affine | linear},
    {"Swish", activation, per_element, any, swish},
    {"Tan", function, per_element},
    {"Tanh", activation, per_element | monotone | weak_gate, around_zero},
    {"TfIdfVectorizer", other},
    {"ThresholdedRelu", activation, per_element | monotone | rectifies, any, thresholded_relu},
    {"Tile", movement, same_rank | linear},
    {"TopK", movement, same_rank},
    {"Transpose", movement, same_rank | linear},
    {"TreeEnsemble", other, same_rank},
    {"Trilu", movement, same_rank | linear},
    {"Unique", other},
    {"Unsqueeze", movement, reshapes | linear},
    {"Where", movement, broadcasts | linear},
    {"Xor", truth, broadcasts | cuts_relevance},
};

}  // namespace
}  // namespace assay::inline model::operator_table

namespace assay::inline model {

std::span<const OperatorTraits> operator_traits() { return operator_table::table; }

const OperatorTraits* traits_of(std::string_view op) {
  const auto all = operator_traits();
  const auto found = std::ranges::lower_bound(all, op, {}, &OperatorTraits::op);
  return found != all.end() && found->op == op ? &*found : nullptr;
}

bool has_trait(std::string_view op, Trait trait) {
  const OperatorTraits* traits = traits_of(op);
  return traits && traits->has(trait);
}

bool is_kind(std::string_view op, OperatorKind kind) {
  const OperatorTraits* traits = traits_of(op);
  return traits && traits->kind == kind;
}

bool is_weighted(std::string_view op) { return is_convolution(op) || is_dense(op) || is_recurrent(op); }

bool is_activation(std::string_view op) { return is_kind(op, OperatorKind::activation) || is_softmax(op); }

bool is_elementwise(std::string_view op) {
  return is_kind(op, OperatorKind::activation) || is_kind(op, OperatorKind::function) || is_arithmetic(op) ||
         is_pass_through(op);
}

bool is_sigmoid(std::string_view op) {
  const OperatorTraits* traits = traits_of(op);
  return traits && traits->kind == OperatorKind::activation && traits->has(Trait::monotone) &&
         traits->range == ValueRange{0, 1};
}

ValueRange range_of(const Graph& graph, const Node& node) {
  const OperatorTraits* traits = traits_of(node.op);
  if (!traits) return {};
  return traits->range_of ? traits->range_of(graph, node) : traits->range;
}

}  // namespace assay::inline model
