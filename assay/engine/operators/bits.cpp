// BitCast: the bits of numbers, taken for those of another type. Assay holds many types in others, so that
// the bits are those of the type that the network means.

#include <bit>

#include <assay/float16.h>
#include "assay/engine/operators/parts/short_float.h"
#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

enum OnnxType : std::int64_t {
  float32 = 1,
  uint8,
  int8,
  uint16,
  int16,
  int32,
  int64,
  boolean = 9,
  float16,
  float64,
  uint32,
  uint64,
  bfloat16 = 16,
  uint4 = 21,
  int4,
  uint2 = 25,
  int2
};

int width_of(std::int64_t type) {
  if (is_short_float(type)) return bits_of(static_cast<ShortFloat>(type));
  switch (type) {
    case uint8:
    case int8:
    case boolean:
      return 8;
    case uint16:
    case int16:
    case float16:
    case bfloat16:
      return 16;
    case float32:
    case int32:
    case uint32:
      return 32;
    case float64:
    case int64:
    case uint64:
      return 64;
    case uint4:
    case int4:
      return 4;
    case uint2:
    case int2:
      return 2;
    default:
      fail(Fault::unsupported, "the bits of elements of ONNX type {} are not known", type);
  }
}

bool is_signed_integer(std::int64_t type) {
  return type == int8 || type == int16 || type == int32 || type == int64 || type == int4 || type == int2;
}
bool is_float(std::int64_t type) {
  return type == float32 || type == float64 || type == float16 || type == bfloat16 || is_short_float(type);
}

std::uint64_t bits_of_float(std::int64_t type, float value) {
  if (is_short_float(type)) return to_short_float(static_cast<ShortFloat>(type), value);
  if (type == float16) return to_float16(value);
  if (type == bfloat16) return to_bfloat16(value);
  if (type == float64) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  return std::bit_cast<std::uint32_t>(value);
}

float float_of_bits(std::int64_t type, std::uint64_t bits) {
  if (is_short_float(type))
    return from_short_float(static_cast<ShortFloat>(type), static_cast<std::uint8_t>(bits));
  if (type == float16) return from_float16(static_cast<std::uint16_t>(bits));
  if (type == bfloat16) return from_bfloat16(static_cast<std::uint16_t>(bits));
  if (type == float64) return static_cast<float>(std::bit_cast<double>(bits));
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

std::int64_t integer_of_bits(std::int64_t type, std::uint64_t bits) {
  const int width = width_of(type);
  if (type == boolean) return bits != 0;
  if (!is_signed_integer(type) || width == 64) return bits;
  const int unused = 64 - width;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace

Outputs bit_cast(const Call& call) {
  const std::int64_t from = call.node.integer("from", 0), to = call.node.integer("to", 0);
  if (width_of(from) != width_of(to))
    fail(Fault::model, "elements of {} bits are taken for some of {}", width_of(from), width_of(to));
  const Array x = call.input(0).detach();
  const Array floats = is_float(from) ? x.to(DType::float32).contiguous() : Array(),
              integers = is_float(from) ? Array() : x.to(DType::int64).contiguous();
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width_of(from));
  Array result = array::empty(x.shape(), is_float(to) ? DType::float32 : DType::int64);
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::uint64_t bits =
        mask & (is_float(from) ? bits_of_float(from, floats.elements<float>()[i])
                               : static_cast<std::uint64_t>(integers.elements<std::int64_t>()[i]));
    if (is_float(to))
      result.elements<float>()[i] = float_of_bits(to, bits);
    else
      result.elements<std::int64_t>()[i] = integer_of_bits(to, bits);
  }
  const auto held = is_float(to)                 ? DType::float32
                    : to == uint4 || to == uint2 ? DType::uint8
                    : to == int4 || to == int2   ? DType::int8
                                                 : scalar_type_of(to);
  return {result.to(held)};
}

}  // namespace assay::operators
