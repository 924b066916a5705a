#include "assay/engine/operators.h"

#include <algorithm>
#include <initializer_list>

namespace assay {
namespace {

bool one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, op) != names.end();
}

bool is_softmax(std::string_view op) { return one_of(op, {"Softmax", "LogSoftmax", "Hardmax"}); }

}  // namespace

bool is_convolution(std::string_view op) { return one_of(op, {"Conv", "ConvTranspose"}); }
bool is_recurrent(std::string_view op) { return one_of(op, {"LSTM", "GRU", "RNN"}); }
bool is_dense(std::string_view op) { return one_of(op, {"Gemm", "MatMul", "Einsum"}); }

bool is_normalisation(std::string_view op) {
  return one_of(op, {"BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization",
                     "LpNormalization", "LRN", "MeanVarianceNormalization"});
}

bool is_pooling(std::string_view op) {
  return one_of(op, {"MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"});
}

bool is_reduction(std::string_view op) { return op.starts_with("Reduce"); }

bool is_activation(std::string_view op) {
  return is_softmax(op) ||
         one_of(op, {"Relu", "LeakyRelu", "PRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "Sigmoid", "HardSigmoid",
                     "HardSwish", "Swish", "Mish", "Gelu", "Tanh", "Softplus", "Softsign", "Shrink", "Clip", "Sign"});
}

bool is_arithmetic(std::string_view op) {
  return one_of(op, {"Add", "Sub", "Mul", "Div", "Pow", "Sum", "Mean", "Max", "Min"});
}

bool is_elementwise(std::string_view op) {
  return (is_activation(op) && !is_softmax(op)) || is_arithmetic(op) || is_pass_through(op) ||
         one_of(op, {"Abs", "Erf", "Exp", "Log", "Neg", "Reciprocal", "Sqrt", "Sin", "Cos"});
}

bool is_pass_through(std::string_view op) { return one_of(op, {"Identity", "Dropout", "Cast"}); }

}  // namespace assay
