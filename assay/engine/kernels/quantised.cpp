// Quantisation. Quantised numbers travel as whole numbers in floating point: exact, and gradients pass
// through the rounding as if it were not there (Bengio et al. 2013), not through saturation.

#include "assay/engine/kernels/parts/quantised.h"
#include "assay/engine/kernels/parts/short_float.h"
#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {
namespace {

Tensor rounded(const Tensor& x) {
  const Tensor whole = at::round(x.detach());  // halves to even
  return x.requires_grad() ? x + (whole - x).detach() : whole;
}

// A scale or zero point in a shape that broadcasts to x: one number, one a position along an axis, or one a
// block.
Tensor spread(const Call& call, const Tensor& parameter, const Tensor& x) {
  if (parameter.numel() == 1 && parameter.dim() <= 1) return parameter.reshape({});
  require_rank_at_least(x, 1);
  const std::int64_t axis = call.axis(1, x.dim()), size = x.size(axis);
  if (parameter.dim() == 1) {
    if (parameter.size(0) != size)
      fail(Fault::model, "{} scales or zero points are given for {} positions", parameter.size(0), size);
    Ints shape(static_cast<std::size_t>(x.dim()), 1);
    shape[static_cast<std::size_t>(axis)] = size;
    return parameter.reshape(shape);
  }
  const std::int64_t block = call.node.integer("block_size", 0);
  if (block == 0) return parameter;  // of as many axes, or kernels complain
  require_in("block_size", block, 1, std::max<std::int64_t>(1, size));
  Ints expected = x.sizes().vec();
  expected[static_cast<std::size_t>(axis)] = (size + block - 1) / block;
  if (parameter.sizes().vec() != expected)
    fail(Fault::model, "scales of the shape {} do not fit blocks of {}", to_string(parameter.sizes().vec()),
         block);
  check_size(x.sizes().vec(), 2 * x.element_size());
  return at::repeat_interleave(parameter, block, axis).narrow(axis, 0, size);
}

// By one scale for the whole tensor.
struct DynamicallyQuantised {
  Tensor whole, scale, zero;
};

DynamicallyQuantised dynamically_quantised(const Tensor& x) {
  if (!x.is_floating_point() || x.numel() == 0) fail(Fault::model, "floating-point numbers are needed");
  const Tensor low = at::clamp_max(at::min(x.detach()), 0), high = at::clamp_min(at::max(x.detach()), 0);
  const Tensor scale = (high - low) / 255;
  const Tensor divisor = at::where(scale == 0, at::ones_like(scale), scale);
  const Tensor zero = at::clamp(at::round(-low / divisor), 0, 255);
  return {at::clamp(rounded(x / divisor) + zero, 0, 255), scale, zero};
}

struct Limits {
  double low, high;
};

// By the ONNX element type that numbers are quantised to: the one that the attribute names, or that the zero
// point has.
std::int64_t quantised_type(const Call& call) {
  const std::int64_t named = call.node.integer("output_dtype", 0);
  if (named != 0 || !call.has(2)) return named == 0 ? 2 : named;
  const at::ScalarType type = call.input(2).scalar_type();
  if (type == at::kByte) return 2;
  if (type == at::kChar) return 3;
  fail(Fault::unsupported, "numbers are not quantised to {}", toString(type));
}

Limits limits_of(std::int64_t type) {
  switch (type) {
    case 2:
      return {0, 255};
    case 3:
      return {-128, 127};
    case 4:
      return {0, 65535};
    case 5:
      return {-32768, 32767};
    case 21:
      return {0, 15};
    case 22:
      return {-8, 7};
    case 25:
      return {0, 3};
    case 26:
      return {-2, 1};
    default:
      fail(Fault::unsupported, "numbers are not quantised to ONNX element type {}", type);
  }
}

}  // namespace

Tensor rounded_by(const Tensor& x, const std::function<float(float)>& function) {
  Tensor host = x.detach().to(at::kCPU, at::kFloat).clone().contiguous();
  float* const values = host.data_ptr<float>();
  for (std::int64_t i = 0; i < host.numel(); ++i) values[i] = function(values[i]);
  const Tensor rounded = host.to(x.device());
  return x.requires_grad() ? x + (rounded - x).detach() : rounded;
}

Outputs quantize_linear(const Call& call) {
  const Tensor x = call.input(0).is_floating_point() ? call.input(0) : call.input(0).to(at::kFloat);
  const std::int64_t type = quantised_type(call);
  const Tensor scale = spread(call, call.input(1).to(x.scalar_type()), x);
  if (is_short_float(type))
    return {to_short_float(x / scale, static_cast<ShortFloat>(type), call.node.integer("saturate", 1) != 0)};
  const Limits limits = limits_of(type);
  Tensor whole = rounded(x / scale);
  if (call.has(2)) whole = whole + spread(call, call.input(2), x).to(x.scalar_type());
  return {at::clamp(whole, limits.low, limits.high)};
}

Outputs dequantize_linear(const Call& call) {
  const Tensor& scale = call.input(1);
  if (!scale.is_floating_point()) fail(Fault::model, "the scale is of {}", toString(scale.scalar_type()));
  Tensor x = call.input(0).to(scale.scalar_type());
  if (call.has(2)) x = x - spread(call, call.input(2), x).to(scale.scalar_type());
  return {x * spread(call, scale, x)};
}

Outputs dynamic_quantize_linear(const Call& call) {
  const auto [whole, scale, zero] = dynamically_quantised(call.input(0));
  return {whole, scale, zero.to(at::kByte)};
}

Tensor dynamically_rounded(const Tensor& x) {
  const auto [whole, scale, zero] = dynamically_quantised(x);
  return (whole - zero) * scale;
}

}  // namespace assay::operators
