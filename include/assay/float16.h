#pragma once

// Floating-point numbers of 16 bits, as elements of arrays. They are stored and converted; what computes with
// them does so as float.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace assay::array {

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

// A float from which fewer bits are rounded as from the number itself: where it is not exact, the one of both
// neighbours whose last bit is set.
inline float rounded_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  const bool away = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(nearest) - (away ? 1u : 0u)) | 1u);
}
inline float rounded_to_odd(std::uint64_t value) {
  const int dropped = std::bit_width(value) - std::numeric_limits<float>::digits;
  if (dropped <= 0) return static_cast<float>(value);
  const std::uint64_t kept = value >> dropped, rest = value - (kept << dropped);
  return std::ldexp(static_cast<float>(kept | (rest != 0 ? 1u : 0u)), dropped);
}

// IEEE 754 binary16, and the upper half of a float32; any number becomes the nearest one.
template <std::uint16_t (*narrow)(float), float (*wide)(std::uint16_t)>
struct ShortReal {
  std::uint16_t bits = 0;

  ShortReal() = default;
  explicit ShortReal(float value) : bits(narrow(value)) {}
  explicit ShortReal(double value) : bits(narrow(rounded_to_odd(value))) {}
  template <typename T>
  requires std::is_integral_v<T>
  explicit ShortReal(T value) {
    const bool negative = value < T{};
    const auto magnitude = static_cast<std::uint64_t>(value);
    const float nearby = rounded_to_odd(negative ? std::uint64_t{0} - magnitude : magnitude);
    bits = narrow(negative ? -nearby : nearby);
  }
  explicit operator float() const { return wide(bits); }
};
using Float16 = ShortReal<to_float16, from_float16>;
using BFloat16 = ShortReal<to_bfloat16, from_bfloat16>;

}  // namespace assay::array

namespace assay {
using array::BFloat16;
using array::Float16;
using array::from_bfloat16;
using array::from_float16;
using array::to_bfloat16;
using array::to_float16;
}  // namespace assay
