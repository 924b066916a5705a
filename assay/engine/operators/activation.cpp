// Activation functions.

#include <limits>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {

Outputs relu(const Call& call) { return {array::relu(call.input(0))}; }
Outputs sigmoid(const Call& call) { return {array::sigmoid(call.input(0))}; }
Outputs tanh(const Call& call) { return {array::tanh(call.input(0))}; }
Outputs softplus(const Call& call) { return {array::softplus(call.input(0))}; }
Outputs mish(const Call& call) { return {array::mish(call.input(0))}; }
Outputs hard_swish(const Call& call) { return {array::hardswish(call.input(0))}; }

Outputs softsign(const Call& call) {
  const Array& x = call.input(0);
  return {x / (1 + array::abs(x))};
}

Outputs leaky_relu(const Call& call) {
  return {array::leaky_relu(call.input(0), call.node.real("alpha", 0.01f))};
}

Outputs prelu(const Call& call) {
  const Array& x = call.input(0);
  return {array::where(x < 0, call.input(1) * x, x)};
}

Outputs elu(const Call& call) { return {array::elu(call.input(0), call.node.real("alpha", 1))}; }

Outputs selu(const Call& call) {
  const float alpha = call.node.real("alpha", 1.67326319217681884765625f);
  const float gamma = call.node.real("gamma", 1.05070102214813232421875f);
  return {array::elu(call.input(0), alpha, gamma)};
}

Outputs celu(const Call& call) { return {array::celu(call.input(0), call.node.real("alpha", 1))}; }

Outputs gelu(const Call& call) {
  const std::string approximate = call.node.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    fail(Fault::model, "attribute 'approximate' is '{}'; it must be 'none' or 'tanh'", approximate);
  }
  return {array::gelu(call.input(0), approximate == "tanh")};
}

Outputs swish(const Call& call) {
  const Array& x = call.input(0);
  return {x * array::sigmoid(x * call.node.real("alpha", 1))};
}

Outputs hard_sigmoid(const Call& call) {
  const float alpha = call.node.real("alpha", 0.2f), beta = call.node.real("beta", 0.5f);
  return {array::clamp(call.input(0) * alpha + beta, 0, 1)};
}

Outputs thresholded_relu(const Call& call) {
  const Array& x = call.input(0);
  return {array::where(x > call.node.real("alpha", 1), x, array::zeros_like(x))};
}

Outputs shrink(const Call& call) {
  const Array& x = call.input(0);
  const float lambda = call.node.real("lambd", 0.5f), bias = call.node.real("bias", 0);
  const Array middle = array::where(x > lambda, x - bias, array::zeros_like(x).to((x - bias).dtype()));
  return {array::where(x < -lambda, x + bias, middle).to(x.dtype())};
}

// Bounds are arrays in ONNX; as numbers they need no gradient and no broadcasting.
Outputs clip(const Call& call) {
  const Array& x = call.input(0);
  if (is_integral(x)) {
    const std::int64_t low = call.integer(1, std::numeric_limits<std::int64_t>::lowest());
    const std::int64_t high = call.integer(2, std::numeric_limits<std::int64_t>::max());
    return {array::clamp(x.to(DType::int64), low, high).to(x.dtype())};
  }
  if ((call.has(1) && call.input(1).requires_grad()) || (call.has(2) && call.input(2).requires_grad())) {
    Array bounded = call.has(1) ? array::maximum(x, call.input(1)) : x;
    if (call.has(2)) bounded = array::minimum(bounded, call.input(2));
    return {bounded};
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return {array::clamp(x, call.number(1, -infinity), call.number(2, infinity))};
}

Outputs softmax(const Call& call) {
  return {array::softmax(call.input(0), call.axis(-1, call.input(0).rank()))};
}
Outputs log_softmax(const Call& call) {
  return {array::log_softmax(call.input(0), call.axis(-1, call.input(0).rank()))};
}

// One at the first maximum along the axis, zero elsewhere.
Outputs hardmax(const Call& call) {
  const Array& x = call.input(0);
  const std::int64_t axis = call.axis(-1, x.rank());
  return {array::scatter(array::zeros_like(x), axis, array::argmax(x, axis, true), 1)};
}

}  // namespace assay::operators
