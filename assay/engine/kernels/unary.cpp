// Functions of one tensor, element by element.

#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {

Outputs abs(const Call& call) { return {at::abs(call.input(0))}; }
Outputs acos(const Call& call) { return {at::acos(call.input(0))}; }
Outputs acosh(const Call& call) { return {at::acosh(call.input(0))}; }
Outputs asin(const Call& call) { return {at::asin(call.input(0))}; }
Outputs asinh(const Call& call) { return {at::asinh(call.input(0))}; }
Outputs atan(const Call& call) { return {at::atan(call.input(0))}; }
Outputs atanh(const Call& call) { return {at::atanh(call.input(0))}; }
Outputs ceil(const Call& call) { return {at::ceil(call.input(0))}; }
Outputs cos(const Call& call) { return {at::cos(call.input(0))}; }
Outputs cosh(const Call& call) { return {at::cosh(call.input(0))}; }
Outputs erf(const Call& call) { return {at::erf(call.input(0))}; }
Outputs exp(const Call& call) { return {at::exp(call.input(0))}; }
Outputs floor(const Call& call) { return {at::floor(call.input(0))}; }
Outputs is_nan(const Call& call) { return {at::isnan(call.input(0))}; }
Outputs log(const Call& call) { return {at::log(call.input(0))}; }
Outputs logical_not(const Call& call) { return {at::logical_not(call.input(0))}; }
Outputs negative(const Call& call) { return {at::neg(call.input(0))}; }
Outputs reciprocal(const Call& call) { return {at::reciprocal(call.input(0))}; }
Outputs round(const Call& call) { return {at::round(call.input(0))}; }  // half to even
Outputs sign(const Call& call) { return {at::sign(call.input(0))}; }
Outputs sin(const Call& call) { return {at::sin(call.input(0))}; }
Outputs sinh(const Call& call) { return {at::sinh(call.input(0))}; }
Outputs sqrt(const Call& call) { return {at::sqrt(call.input(0))}; }
Outputs tan(const Call& call) { return {at::tan(call.input(0))}; }

// The step that attribute "step" names; its gradient is 1, of Sign only between -1 and 1.
Outputs straight_through(const Call& call) {
  const Tensor& x = call.input(0);
  const std::string step = call.node.text("step", "");
  const Tensor plain = x.detach();
  const Tensor value = step == "Sign"    ? at::sign(plain)
                       : step == "Round" ? at::round(plain)
                       : step == "Floor" ? at::floor(plain)
                       : step == "Ceil"  ? at::ceil(plain)
                                         : Tensor();
  if (!value.defined()) fail(Fault::model, "there is no step '{}'", step);
  if (!x.requires_grad()) return {value};
  const Tensor passed = step == "Sign" ? at::clamp(x, -1, 1) : x;
  return {value + (passed - passed.detach())};
}

Outputs is_inf(const Call& call) {
  const Tensor& x = call.input(0);
  Tensor result = at::isinf(x);
  if (call.node.integer("detect_positive", 1) == 0) result = at::logical_and(result, x < 0);
  if (call.node.integer("detect_negative", 1) == 0) result = at::logical_and(result, x > 0);
  return {result};
}

}  // namespace assay::operators
