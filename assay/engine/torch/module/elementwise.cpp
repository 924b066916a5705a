// Functions of one element, and of elements that meet.

#include <limits>
#include <map>

#include "assay/engine/torch/module/operators.h"

namespace assay::torch_module {
namespace {

using Function = Tensor (*)(const Tensor&);
using Join = Tensor (*)(const Tensor&, const Tensor&);

// libtorch makes 0 of NaN.
Tensor sign(const Tensor& x) { return at::where(at::isnan(x), x, at::sign(x)); }
Tensor softsign(const Tensor& x) { return x / (1 + at::abs(x)); }
Tensor softplus(const Tensor& x) { return at::logaddexp(x, at::zeros({}, x.options())); }

const std::map<std::string, Function, std::less<>>& functions() {
  static const std::map<std::string, Function, std::less<>> all{
      {"Abs", at::abs},         {"Acos", at::acos},
      {"Acosh", at::acosh},     {"Asin", at::asin},
      {"Asinh", at::asinh},     {"Atan", at::atan},
      {"Atanh", at::atanh},     {"Ceil", at::ceil},
      {"Cos", at::cos},         {"Cosh", at::cosh},
      {"Erf", at::erf},         {"Exp", at::exp},
      {"Floor", at::floor},     {"HardSwish", at::hardswish},
      {"Log", at::log},         {"Mish", at::mish},
      {"Neg", at::neg},         {"Reciprocal", at::reciprocal},
      {"Relu", at::relu},       {"Round", at::round},
      {"Sigmoid", at::sigmoid}, {"Sign", sign},
      {"Sin", at::sin},         {"Sinh", at::sinh},
      {"Softplus", softplus},   {"Softsign", softsign},
      {"Sqrt", at::sqrt},       {"Tan", at::tan},
      {"Tanh", at::tanh},
  };
  return all;
}

Tensor maximum(const Tensor& a, const Tensor& b) { return at::maximum(a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return at::minimum(a, b); }
Tensor sum(const Tensor& a, const Tensor& b) { return at::add(a, b); }
Tensor difference(const Tensor& a, const Tensor& b) { return at::sub(a, b); }
Tensor product(const Tensor& a, const Tensor& b) { return at::mul(a, b); }
Tensor quotient(const Tensor& a, const Tensor& b) { return at::div(a, b); }
Tensor power(const Tensor& a, const Tensor& b) { return at::pow(a, b); }

Join join_of(std::string_view op) {
  static const std::map<std::string_view, Join> all{{"Add", sum},   {"Div", quotient},   {"Max", maximum},
                                                    {"Mean", sum},  {"Min", minimum},    {"Mul", product},
                                                    {"Pow", power}, {"Sub", difference}, {"Sum", sum}};
  return all.at(op);
}

}  // namespace

bool is_function(std::string_view op) { return functions().contains(op); }
Outputs function_of_one(const Call& call) { return {functions().find(call.op())->second(call.x())}; }

// Elu and what is like it.
Outputs with_slope(const Call& call) {
  const std::string& op = call.op();
  if (op == "LeakyRelu") return {at::leaky_relu(call.x(), call.real("alpha", 0.01F))};
  if (op == "Celu") return {at::celu(call.x(), call.real("alpha", 1))};
  if (op == "Elu") return {at::elu(call.x(), call.real("alpha", 1))};
  const float alpha = call.real("alpha", 1.67326319217681884765625F);
  return {at::elu(call.x(), alpha, call.real("gamma", 1.05070102214813232421875F))};
}

Outputs prelu(const Call& call) { return {at::where(call.x() < 0, call.x(1) * call.x(), call.x())}; }
Outputs gelu(const Call& call) { return {at::gelu(call.x(), call.text("approximate", "none"))}; }
Outputs swish(const Call& call) { return {call.x() * at::sigmoid(call.x() * call.real("alpha", 1))}; }
Outputs hard_sigmoid(const Call& call) {
  return {at::clamp(call.x() * call.real("alpha", 0.2F) + call.real("beta", 0.5F), 0, 1)};
}
Outputs thresholded_relu(const Call& call) {
  return {at::where(call.x() > call.real("alpha", 1), call.x(), at::zeros_like(call.x()))};
}

Outputs shrink(const Call& call) {
  const Tensor& x = call.x();
  const float lambda = call.real("lambd", 0.5F), bias = call.real("bias", 0);
  return {at::where(x < -lambda, x + bias, at::where(x > lambda, x - bias, at::zeros_like(x)))};
}

Outputs clip(const Call& call) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {at::clamp(call.x(), call.number(1, -infinity), call.number(2, infinity))};
}

// Of two operands or more.
Outputs pair(const Call& call) {
  const Join join = join_of(call.op());
  Tensor result = call.x();
  for (std::size_t i = 1; i < call.operands(); ++i) result = join(result, call.x(i));
  if (call.op() == "Mean") result = result / static_cast<double>(call.operands());
  return {result};
}

Outputs where(const Call& call) { return {at::where(call.x().to(at::kBool), call.x(1), call.x(2))}; }

}  // namespace assay::torch_module
