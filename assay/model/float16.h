#pragma once

// Floating-point numbers of 16 bits, which are held as float32.

#include <bit>
#include <cstdint>

namespace assay::inline model {

// IEEE 754 binary16. Exact.
inline float from_float16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1fu, fraction = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // zero and subnormal numbers
  return sign != 0 ? -magnitude : magnitude;
}

// The nearest, of two as near the even one; beyond the greatest infinity.
inline std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520 and more
  if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 rounds to multiples of 2^-24
    const float moved = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(moved) - 0x3f000000u));
  }
  const std::uint32_t even = magnitude >> 13 & 1u;
  return static_cast<std::uint16_t>(sign | (magnitude + 0xfffu + even - 0x38000000u) >> 13);
}

// The upper half of a float32. Exact.
inline float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// The nearest, of two as near the even one.
inline std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace assay::inline model
