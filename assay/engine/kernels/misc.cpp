// Identity, Dropout, and conversions of the element type.

#include <assay/extend/random.h>
#include "assay/engine/kernels/parts/short_float.h"
#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {
namespace {

// True with probability 1 - ratio, drawn on the host so that every device drops the same elements.
Tensor keep_mask(const Tensor& x, double ratio, Rng& random) {
  Tensor mask = at::empty(x.sizes(), at::kBool);
  auto* keep = mask.data_ptr<bool>();
  for (std::int64_t i = 0; i < mask.numel(); ++i) keep[i] = random.uniform() >= ratio;
  return mask.to(x.device());
}

// What whole numbers of so many bits keep of others.
Tensor lowest_bits(const Tensor& x, int bits) {
  return at::bitwise_and(x.to(at::kLong), (std::int64_t{1} << bits) - 1);
}
Tensor with_sign(const Tensor& x, int bits) {
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return (at::bitwise_xor(x, half) - half).to(at::kChar);
}

}  // namespace

Outputs identity(const Call& call) { return {call.input(0)}; }

// Drops only when the run is a training one: readers take away a training mode that the file fixes.
Outputs dropout(const Call& call) {
  const Tensor& x = call.input(0);
  const double ratio = call.number(1, 0.5);
  if (!(ratio >= 0 && ratio <= 1)) fail(Fault::model, "the ratio is {}; it must be in [0, 1]", ratio);
  if (!call.context.training && ratio > 0 && call.has(2) && call.number(2, 0) != 0)
    fail(Fault::unsupported, "an input asks for training mode, whose random numbers no standard lays down");
  if (!call.context.training || ratio == 0) {
    return {x, call.wants(1) ? at::ones_like(x, at::kBool) : Tensor()};
  }
  if (ratio == 1) return {x * 0, at::zeros_like(x, at::kBool)};
  const Tensor keep = keep_mask(x, ratio, *call.context.random);
  return {x * keep / (1 - ratio), keep};
}

Outputs cast(const Call& call) {
  const Tensor& x = call.input(0);
  if (!call.node.has("to")) fail(Fault::model, "attribute 'to' is missing");
  const std::int64_t type = call.node.integer("to", 1);
  // Types that are held in wider ones round, or wrap, to what they can be.
  if (type == 10) return {x.to(at::kHalf).to(at::kFloat)};
  if (type == 16) return {x.to(at::kBFloat16).to(at::kFloat)};
  const bool saturates = call.node.integer("saturate", 1) != 0;
  if (type == static_cast<std::int64_t>(ShortFloat::e8m0))
    return {rounded_by(x, [=, mode = call.node.text("round_mode", "up")](float value) {
      return rounded_to_power(value, saturates, mode);
    })};
  if (is_short_float(type)) return {to_short_float(x, static_cast<ShortFloat>(type), saturates)};
  if (type == 4) return {at::bitwise_and(x.to(at::kLong), 0xffff).to(at::kInt)};
  if (type == 5) return {x.to(at::kLong).to(at::kShort).to(at::kInt)};
  if (type == 12) return {at::bitwise_and(x.to(at::kLong), std::int64_t{0xffffffff})};
  if (type == 21 || type == 25) return {lowest_bits(x, type == 21 ? 4 : 2).to(at::kByte)};
  if (type == 22 || type == 26) return {with_sign(lowest_bits(x, type == 22 ? 4 : 2), type == 22 ? 4 : 2)};
  return {x.to(scalar_type_of(type))};
}

Outputs cast_like(const Call& call) { return {call.input(0).to(call.input(1).scalar_type())}; }

}  // namespace assay::operators
