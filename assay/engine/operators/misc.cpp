// Identity, Dropout, and conversions of the element type.

#include <assay/extend/random.h>
#include <assay/float16.h>
#include "assay/engine/operators/parts/short_float.h"
#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

// True with probability 1 - ratio, drawn one after the other.
Array keep_mask(const Array& x, double ratio, Rng& random) {
  Array mask = array::empty(x.shape(), DType::boolean);
  auto* keep = mask.elements<bool>();
  for (std::int64_t i = 0; i < mask.count(); ++i) keep[i] = random.uniform() >= ratio;
  return mask;
}

// Integers cut to that many bits.
Array lowest_bits(const Array& x, int bits) {
  return array::bitwise_and(x.to(DType::int64), (std::int64_t{1} << bits) - 1);
}
Array with_sign(const Array& x, int bits) {
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return array::bitwise_xor(x, array::scalar(half, DType::int64)) - half;
}

}  // namespace

Outputs identity(const Call& call) { return {call.input(0)}; }

// Drops only when the run is a training one: readers take away a training mode that the file fixes.
Outputs dropout(const Call& call) {
  const Array& x = call.input(0);
  const double ratio = call.number(1, 0.5);
  if (!(ratio >= 0 && ratio <= 1)) fail(Fault::model, "the ratio is {}; it must be in [0, 1]", ratio);
  if (!call.context.training && ratio > 0 && call.has(2) && call.number(2, 0) != 0)
    fail(Fault::unsupported, "an input asks for training mode, whose random numbers are not standardised");
  if (!call.context.training || ratio == 0) {
    return {x, call.wants(1) ? array::ones_like(x, DType::boolean) : Array()};
  }
  if (ratio == 1) return {x * 0, array::zeros_like(x, DType::boolean)};
  const Array keep = keep_mask(x, ratio, *call.context.random);
  return {x * keep / (1 - ratio), keep};
}

Outputs cast(const Call& call) {
  const Array& x = call.input(0);
  if (!call.node.has("to")) fail(Fault::model, "attribute 'to' is missing");
  const std::int64_t type = call.node.integer("to", 1);
  // Types that are held in wider ones round, or wrap, to what they can be.
  if (type == 10) return {rounded_by(x, [](float value) { return from_float16(to_float16(value)); })};
  if (type == 16) return {rounded_by(x, [](float value) { return from_bfloat16(to_bfloat16(value)); })};
  const bool saturates = call.node.integer("saturate", 1) != 0;
  if (type == static_cast<std::int64_t>(ShortFloat::e8m0))
    return {rounded_by(x, [=, mode = call.node.text("round_mode", "up")](float value) {
      return rounded_to_power(value, saturates, mode);
    })};
  if (is_short_float(type)) return {to_short_float(x, static_cast<ShortFloat>(type), saturates)};
  if (type == 4) return {array::bitwise_and(x.to(DType::int64), 0xffff).to(DType::int32)};
  if (type == 5) return {with_sign(lowest_bits(x, 16), 16).to(DType::int32)};
  if (type == 12) return {array::bitwise_and(x.to(DType::int64), std::int64_t{0xffffffff})};
  if (type == 21 || type == 25) return {lowest_bits(x, type == 21 ? 4 : 2).to(DType::uint8)};
  if (type == 22 || type == 26)
    return {with_sign(lowest_bits(x, type == 22 ? 4 : 2), type == 22 ? 4 : 2).to(DType::int8)};
  return {x.to(scalar_type_of(type))};
}

Outputs cast_like(const Call& call) { return {call.input(0).to(call.input(1).dtype())}; }

}  // namespace assay::operators
