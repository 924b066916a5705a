#pragma once

// Floating-point numbers of 16 bits, which are held as float32.

#include <bit>
#include <cstdint>

namespace assay {

// IEEE 754 binary16. Exact.
inline float from_float16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1fu, fraction = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // zero and subnormal numbers
  return sign != 0 ? -magnitude : magnitude;
}

// The upper half of a float32. Exact.
inline float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace assay
