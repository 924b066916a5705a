// Activation functions.

#include <limits>

#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {

Outputs relu(const Call& call) { return {at::relu(call.input(0))}; }
Outputs sigmoid(const Call& call) { return {at::sigmoid(call.input(0))}; }
Outputs tanh(const Call& call) { return {at::tanh(call.input(0))}; }
Outputs softplus(const Call& call) { return {at::softplus(call.input(0))}; }
Outputs mish(const Call& call) { return {at::mish(call.input(0))}; }
Outputs hard_swish(const Call& call) { return {at::hardswish(call.input(0))}; }

Outputs softsign(const Call& call) {
  const Tensor& x = call.input(0);
  return {x / (1 + at::abs(x))};
}

Outputs leaky_relu(const Call& call) {
  return {at::leaky_relu(call.input(0), call.node.real("alpha", 0.01f))};
}

Outputs prelu(const Call& call) {
  const Tensor& x = call.input(0);
  return {at::where(x < 0, call.input(1) * x, x)};
}

Outputs elu(const Call& call) { return {at::elu(call.input(0), call.node.real("alpha", 1))}; }

Outputs selu(const Call& call) {
  const float alpha = call.node.real("alpha", 1.67326319217681884765625f);
  const float gamma = call.node.real("gamma", 1.05070102214813232421875f);
  return {at::elu(call.input(0), alpha, gamma)};
}

Outputs celu(const Call& call) { return {at::celu(call.input(0), call.node.real("alpha", 1))}; }

Outputs gelu(const Call& call) {
  const std::string approximate = call.node.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    fail(Fault::model, "attribute 'approximate' is '{}'; it must be 'none' or 'tanh'", approximate);
  }
  return {at::gelu(call.input(0), approximate)};
}

Outputs swish(const Call& call) {
  const Tensor& x = call.input(0);
  return {x * at::sigmoid(x * call.node.real("alpha", 1))};
}

Outputs hard_sigmoid(const Call& call) {
  const float alpha = call.node.real("alpha", 0.2f), beta = call.node.real("beta", 0.5f);
  return {at::clamp(call.input(0) * alpha + beta, 0, 1)};
}

Outputs thresholded_relu(const Call& call) {
  const Tensor& x = call.input(0);
  return {at::where(x > call.node.real("alpha", 1), x, at::zeros_like(x))};
}

Outputs shrink(const Call& call) {
  const Tensor& x = call.input(0);
  const float lambda = call.node.real("lambd", 0.5f), bias = call.node.real("bias", 0);
  const Tensor middle = at::where(x > lambda, x - bias, at::zeros_like(x).to((x - bias).scalar_type()));
  return {at::where(x < -lambda, x + bias, middle).to(x.scalar_type())};
}

// Bounds are tensors in ONNX; as host numbers they let libtorch use its vectorised clamp.
Outputs clip(const Call& call) {
  const Tensor& x = call.input(0);
  if (is_integral(x)) {
    const std::int64_t low = call.integer(1, std::numeric_limits<std::int64_t>::lowest());
    const std::int64_t high = call.integer(2, std::numeric_limits<std::int64_t>::max());
    return {at::clamp(x.to(at::kLong), low, high).to(x.scalar_type())};
  }
  if ((call.has(1) && call.input(1).requires_grad()) || (call.has(2) && call.input(2).requires_grad())) {
    return {at::clamp(x, call.optional(1), call.optional(2))};
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return {at::clamp(x, call.number(1, -infinity), call.number(2, infinity))};
}

Outputs softmax(const Call& call) { return {at::softmax(call.input(0), call.axis(-1, call.input(0).dim()))}; }
Outputs log_softmax(const Call& call) {
  return {at::log_softmax(call.input(0), call.axis(-1, call.input(0).dim()))};
}

// One at the first maximum along the axis, zero elsewhere.
Outputs hardmax(const Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t axis = call.axis(-1, x.dim());
  return {at::zeros_like(x).scatter(axis, at::argmax(x, axis, /*keepdim=*/true), 1)};
}

}  // namespace assay::operators
