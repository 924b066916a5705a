// Functions of two or more tensors, element by element, with broadcasting.

#include <functional>

#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {
namespace {

// Integer division must not meet (smallest value) / -1, which traps: where the divisor is -1 it is replaced
// by 1.
std::pair<Tensor, Tensor> trap_free(const Tensor& divisor) {
  if (divisor.scalar_type() == at::kByte) return {at::zeros_like(divisor, at::kBool), divisor};
  const Tensor minus_one = divisor == -1;
  return {minus_one, at::where(minus_one, at::ones_like(divisor), divisor)};
}

void require_no_zero(const Tensor& divisor) {
  if ((divisor == 0).any().item<bool>()) fail(Fault::model, "division of integers by zero");
}

Outputs fold(const Call& call, const std::function<Tensor(const Tensor&, const Tensor&)>& join) {
  Tensor result = call.input(0);
  for (std::size_t i = 1; i < call.inputs.size(); ++i) result = join(result, call.input(i));
  return {result};
}

}  // namespace

Outputs add(const Call& call) { return {at::add(call.input(0), call.input(1))}; }
Outputs subtract(const Call& call) { return {at::sub(call.input(0), call.input(1))}; }
Outputs multiply(const Call& call) { return {at::mul(call.input(0), call.input(1))}; }

// Integers are truncated toward zero.
Outputs divide(const Call& call) {
  const auto [a, b] = promoted(call.input(0), call.input(1));
  if (!is_integral(a)) return {at::div(a, b)};
  require_no_zero(b);
  const auto [minus_one, divisor] = trap_free(b);
  return {at::where(minus_one, at::neg(a), at::div(a, divisor, "trunc"))};
}

// The result has the sign of the divisor, or with fmod of the dividend.
Outputs modulo(const Call& call) {
  const auto [a, b] = promoted(call.input(0), call.input(1));
  const bool fmod = call.node.integer("fmod", 0) != 0;
  if (!is_integral(a)) return {fmod ? at::fmod(a, b) : at::remainder(a, b)};
  require_no_zero(b);
  const Tensor divisor = trap_free(b).second;
  return {fmod ? at::fmod(a, divisor) : at::remainder(a, divisor)};
}

// The result has the base's type whatever the exponent's.
Outputs power(const Call& call) {
  const Tensor &base = call.input(0), &exponent = call.input(1);
  if (is_integral(base) && !is_integral(exponent)) {
    return {at::pow(base.to(at::kDouble), exponent).to(base.scalar_type())};
  }
  return {at::pow(base, exponent).to(base.scalar_type())};
}

Outputs maximum(const Call& call) {
  return fold(call, [](const Tensor& a, const Tensor& b) { return at::maximum(a, b); });
}
Outputs minimum(const Call& call) {
  return fold(call, [](const Tensor& a, const Tensor& b) { return at::minimum(a, b); });
}
Outputs sum(const Call& call) {
  return fold(call, [](const Tensor& a, const Tensor& b) { return at::add(a, b); });
}
Outputs mean(const Call& call) { return {at::div(sum(call)[0], static_cast<double>(call.inputs.size()))}; }

Outputs equal(const Call& call) { return {at::eq(call.input(0), call.input(1))}; }
Outputs greater(const Call& call) { return {at::gt(call.input(0), call.input(1))}; }
Outputs greater_or_equal(const Call& call) { return {at::ge(call.input(0), call.input(1))}; }
Outputs less(const Call& call) { return {at::lt(call.input(0), call.input(1))}; }
Outputs less_or_equal(const Call& call) { return {at::le(call.input(0), call.input(1))}; }
Outputs logical_and(const Call& call) { return {at::logical_and(call.input(0), call.input(1))}; }
Outputs logical_or(const Call& call) { return {at::logical_or(call.input(0), call.input(1))}; }
Outputs logical_xor(const Call& call) { return {at::logical_xor(call.input(0), call.input(1))}; }

Outputs where(const Call& call) {
  const auto [a, b] = promoted(call.input(1), call.input(2));
  return {at::where(call.input(0).to(at::kBool), a, b)};
}

}  // namespace assay::operators
