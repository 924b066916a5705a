// All operators that relevance passes through: who receives, and how. Sorted by name.

#include <algorithm>

#include "assay/relevance/operators/families.h"

namespace assay::relevance {
namespace passing {
namespace {

constexpr OperatorInfo catalogue[] = {
    {"Abs", first, unchanged, false, false},
    {"Acos", first, unchanged, false, false},
    {"Acosh", first, unchanged, false, false},
    {"Add", all, sum, true},
    {"Asin", first, unchanged, false, false},
    {"Asinh", first, unchanged, false, false},
    {"Atan", first, unchanged, false, false},
    {"Atanh", first, unchanged, false, false},
    {"AveragePool", first, proportional, true},
    {"Cast", first, unchanged, false, false},
    {"CastLike", first, unchanged, false, false},
    {"Ceil", first, unchanged, false, false},
    {"Celu", first, unchanged, false, false},
    {"CenterCropPad", first, moved},
    {"Clip", first, unchanged, false, false},
    {"Compress", first, moved},
    {"Concat", all, concatenated},
    {"Cos", first, unchanged, false, false},
    {"Cosh", first, unchanged, false, false},
    {"CumSum", first, proportional, true},
    {"DFT", first, proportional, true},
    {"DepthToSpace", first, moved},
    {"DequantizeLinear", first, unchanged, false, false},
    {"Div", quotient, product},
    {"Dropout", first, unchanged, false, false},
    {"DynamicQuantizeLinear", first, unchanged, false, false},
    {"Einsum", signal, bilinear, true},
    {"Elu", first, unchanged, false, false},
    {"Erf", first, unchanged, false, false},
    {"Exp", first, unchanged, false, false},
    {"Expand", first, moved},
    {"Flatten", first, reshaped},
    {"Floor", first, unchanged, false, false},
    {"GRU", sequence, gru},
    {"Gather", looked_up, embedding},
    {"GatherElements", first, moved},
    {"GatherND", first, moved},
    {"Gelu", first, unchanged, false, false},
    {"Gemm", signal, bilinear, true},
    {"GlobalAveragePool", first, proportional, true},
    {"GlobalLpPool", first, proportional, true},
    {"GlobalMaxPool", first, reduced_extreme, true},
    {"GridSample", first, proportional, true},
    {"GroupNormalization", first, group_normalisation, true},
    {"HardSigmoid", first, unchanged, false, false},
    {"HardSwish", first, unchanged, false, false},
    {"Identity", first, unchanged, false, false},
    {"InstanceNormalization", first, instance_normalisation, true},
    {"LRN", first, unchanged, false, false},
    {"LSTM", sequence, lstm},
    {"LayerNormalization", first, layer_normalisation, true},
    {"LeakyRelu", first, unchanged, false, false},
    {"Log", first, unchanged, false, false},
    {"LogSoftmax", first, unchanged, false, false},
    {"LpNormalization", first, unchanged, false, false},
    {"LpPool", first, proportional, true},
    {"MatMul", signal, bilinear, true},
    {"Max", all, extreme, true},
    {"MaxPool", first, max_pool, true},
    {"MaxUnpool", first, moved},
    {"Mean", all, mean, true},
    {"MeanVarianceNormalization", first, mean_variance, true},
    {"Min", all, extreme, true},
    {"Mish", first, unchanged, false, false},
    {"Mul", signal, product},
    {"Neg", first, unchanged, false, false},
    {"PRelu", first, unchanged, false, false},
    {"Pad", first, moved},
    {"Pow", first, product},
    {"QuantizeLinear", first, unchanged, false, false},
    {"RNN", sequence, rnn},
    {"Reciprocal", first, unchanged, false, false},
    {"ReduceL1", first, proportional, true},
    {"ReduceL2", first, proportional, true},
    {"ReduceMax", first, reduced_extreme, true},
    {"ReduceMean", first, proportional, true},
    {"ReduceMin", first, reduced_extreme, true},
    {"ReduceSum", first, proportional, true},
    {"Relu", first, unchanged, false, false},
    {"Reshape", first, reshaped},
    {"Resize", first, proportional, true},
    {"ReverseSequence", first, moved},
    {"RoiAlign", first, proportional, true},
    {"Round", first, unchanged, false, false},
    {"STFT", first, proportional, true},
    {"ScatterElements", scattering, scattered, true},
    {"ScatterND", scattering, scattered, true},
    {"Selu", first, unchanged, false, false},
    {"Shrink", first, unchanged, false, false},
    {"Sigmoid", first, unchanged, false, false},
    {"Sin", first, unchanged, false, false},
    {"Sinh", first, unchanged, false, false},
    {"Slice", first, moved},
    {"Softmax", first, unchanged, false, false},
    {"Softplus", first, unchanged, false, false},
    {"Softsign", first, unchanged, false, false},
    {"SpaceToDepth", first, moved},
    {"Split", first, split},
    {"Sqrt", first, unchanged, false, false},
    {"Squeeze", first, reshaped},
    {"StraightThrough", first, unchanged, false, false},
    {"Sub", all, sum, true},
    {"Sum", all, sum, true},
    {"Swish", first, unchanged, false, false},
    {"Tan", first, unchanged, false, false},
    {"Tanh", first, unchanged, false, false},
    {"ThresholdedRelu", first, unchanged, false, false},
    {"Tile", first, moved},
    {"TopK", first, picked},
    {"Transpose", first, moved},
    {"Trilu", first, moved},
    {"Unsqueeze", first, reshaped},
    {"Where", branches, where},
};

// In place of these, where relevance passes through attention weights.
constexpr OperatorInfo attention_catalogue[] = {
    {"Einsum", all, bilinear, true},
    {"Gemm", all, bilinear, true},
    {"MatMul", all, bilinear, true},
    {"Softmax", first, softmax, true},
};

const OperatorInfo* find(std::span<const OperatorInfo> operators, std::string_view op) {
  const auto found = std::ranges::lower_bound(operators, op, {}, &OperatorInfo::op);
  return found != operators.end() && found->op == op ? &*found : nullptr;
}

}  // namespace
}  // namespace passing

const OperatorInfo* find_relevance_operator(std::string_view op, bool through_attention) {
  const OperatorInfo* const other =
      through_attention ? passing::find(passing::attention_catalogue, op) : nullptr;
  return other != nullptr ? other : passing::find(passing::catalogue, op);
}

}  // namespace assay::relevance
