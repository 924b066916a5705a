// Functions of two or more arrays, element by element, with broadcasting.

#include <functional>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

// Integer division must not meet (smallest value) / -1, which traps: where the divisor is -1 it is replaced
// by 1.
std::pair<Array, Array> trap_free(const Array& divisor) {
  if (divisor.dtype() == DType::uint8) return {array::zeros_like(divisor, DType::boolean), divisor};
  const Array minus_one = divisor == -1;
  return {minus_one, array::where(minus_one, array::ones_like(divisor), divisor)};
}

void require_no_zero(const Array& divisor) {
  if ((divisor == 0).any().item<bool>()) fail(Fault::model, "division of integers by zero");
}

Outputs fold(const Call& call, const std::function<Array(const Array&, const Array&)>& join) {
  Array result = call.input(0);
  for (std::size_t i = 1; i < call.inputs.size(); ++i) result = join(result, call.input(i));
  return {result};
}

}  // namespace

Outputs add(const Call& call) { return {call.input(0) + call.input(1)}; }
Outputs subtract(const Call& call) { return {call.input(0) - call.input(1)}; }
Outputs multiply(const Call& call) { return {call.input(0) * call.input(1)}; }

// Integers are truncated toward zero.
Outputs divide(const Call& call) {
  const auto [a, b] = promoted(call.input(0), call.input(1));
  if (!is_integral(a)) return {a / b};
  require_no_zero(b);
  const auto [minus_one, divisor] = trap_free(b);
  return {array::where(minus_one, array::neg(a), array::div(a, divisor, array::Rounding::truncate))};
}

// The result has the sign of the divisor, or with fmod of the dividend.
Outputs modulo(const Call& call) {
  const auto [a, b] = promoted(call.input(0), call.input(1));
  const bool fmod = call.node.integer("fmod", 0) != 0;
  if (!is_integral(a)) return {fmod ? array::fmod(a, b) : array::remainder(a, b)};
  require_no_zero(b);
  const Array divisor = trap_free(b).second;
  return {fmod ? array::fmod(a, divisor) : array::remainder(a, divisor)};
}

// The result has the base's type for any type of the exponent.
Outputs power(const Call& call) {
  const Array &base = call.input(0), &exponent = call.input(1);
  if (is_integral(base) && !is_integral(exponent)) {
    return {array::pow(base.to(DType::float64), exponent).to(base.dtype())};
  }
  return {array::pow(base, exponent).to(base.dtype())};
}

Outputs maximum(const Call& call) {
  return fold(call, [](const Array& a, const Array& b) { return array::maximum(a, b); });
}
Outputs minimum(const Call& call) {
  return fold(call, [](const Array& a, const Array& b) { return array::minimum(a, b); });
}
Outputs sum(const Call& call) {
  return fold(call, [](const Array& a, const Array& b) { return a + b; });
}
Outputs mean(const Call& call) { return {sum(call)[0] / static_cast<double>(call.inputs.size())}; }

Outputs equal(const Call& call) { return {array::eq(call.input(0), call.input(1))}; }
Outputs greater(const Call& call) { return {array::gt(call.input(0), call.input(1))}; }
Outputs greater_or_equal(const Call& call) { return {array::ge(call.input(0), call.input(1))}; }
Outputs less(const Call& call) { return {array::lt(call.input(0), call.input(1))}; }
Outputs less_or_equal(const Call& call) { return {array::le(call.input(0), call.input(1))}; }
Outputs logical_and(const Call& call) { return {array::logical_and(call.input(0), call.input(1))}; }
Outputs logical_or(const Call& call) { return {array::logical_or(call.input(0), call.input(1))}; }
Outputs logical_xor(const Call& call) { return {array::logical_xor(call.input(0), call.input(1))}; }

Outputs where(const Call& call) {
  const auto [a, b] = promoted(call.input(1), call.input(2));
  return {array::where(call.input(0).to(DType::boolean), a, b)};
}

}  // namespace assay::operators
