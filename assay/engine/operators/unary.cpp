// Functions of one tensor, element by element.

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {

Outputs abs(const Call& call) { return {array::abs(call.input(0))}; }
Outputs acos(const Call& call) { return {array::acos(call.input(0))}; }
Outputs acosh(const Call& call) { return {array::acosh(call.input(0))}; }
Outputs asin(const Call& call) { return {array::asin(call.input(0))}; }
Outputs asinh(const Call& call) { return {array::asinh(call.input(0))}; }
Outputs atan(const Call& call) { return {array::atan(call.input(0))}; }
Outputs atanh(const Call& call) { return {array::atanh(call.input(0))}; }
Outputs ceil(const Call& call) { return {array::ceil(call.input(0))}; }
Outputs cos(const Call& call) { return {array::cos(call.input(0))}; }
Outputs cosh(const Call& call) { return {array::cosh(call.input(0))}; }
Outputs erf(const Call& call) { return {array::erf(call.input(0))}; }
Outputs exp(const Call& call) { return {array::exp(call.input(0))}; }
Outputs floor(const Call& call) { return {array::floor(call.input(0))}; }
Outputs is_nan(const Call& call) { return {array::isnan(call.input(0))}; }
Outputs log(const Call& call) { return {array::log(call.input(0))}; }
Outputs logical_not(const Call& call) { return {array::logical_not(call.input(0))}; }
Outputs negative(const Call& call) { return {array::neg(call.input(0))}; }
Outputs reciprocal(const Call& call) { return {array::reciprocal(call.input(0))}; }
Outputs round(const Call& call) { return {array::round(call.input(0))}; }  // half to even
Outputs sign(const Call& call) { return {array::sign(call.input(0))}; }
Outputs sin(const Call& call) { return {array::sin(call.input(0))}; }
Outputs sinh(const Call& call) { return {array::sinh(call.input(0))}; }
Outputs sqrt(const Call& call) { return {array::sqrt(call.input(0))}; }
Outputs tan(const Call& call) { return {array::tan(call.input(0))}; }

// The step that attribute "step" names; its gradient is 1, of Sign only between -1 and 1.
Outputs straight_through(const Call& call) {
  const Array& x = call.input(0);
  const std::string step = call.node.text("step", "");
  const Array plain = x.detach();
  const Array value = step == "Sign"    ? array::sign(plain)
                      : step == "Round" ? array::round(plain)
                      : step == "Floor" ? array::floor(plain)
                      : step == "Ceil"  ? array::ceil(plain)
                                        : Array();
  if (!value.defined()) fail(Fault::model, "there is no step '{}'", step);
  if (!x.requires_grad()) return {value};
  const Array passed = step == "Sign" ? array::clamp(x, -1, 1) : x;
  return {value + (passed - passed.detach())};
}

Outputs is_inf(const Call& call) {
  const Array& x = call.input(0);
  Array result = array::isinf(x);
  if (call.node.integer("detect_positive", 1) == 0) result = array::logical_and(result, x < 0);
  if (call.node.integer("detect_negative", 1) == 0) result = array::logical_and(result, x > 0);
  return {result};
}

}  // namespace assay::operators
