#pragma once

// Floating-point numbers of 8 bits and less, which are held as float32: Micikevicius et al., "FP8 formats for
// deep learning", 2022; Rouhani et al., "OCP Microscaling formats (MX) specification 1.0", 2023.

#include <cstdint>
#include <string_view>

namespace assay::inline model {

// By their ONNX element types. e8m0 has neither sign nor fraction: powers of two, for scales.
enum class ShortFloat { e4m3fn = 17, e4m3fnuz, e5m2, e5m2fnuz, e2m1 = 23, e8m0, e2m3 = 27, e3m2 };

constexpr bool is_short_float(std::int64_t onnx_type) {
  return (onnx_type >= 17 && onnx_type <= 20) || onnx_type == 23 || onnx_type == 24 || onnx_type == 27 ||
         onnx_type == 28;
}

// 4, 6 or 8.
int bits_of(ShortFloat type);

float from_short_float(ShortFloat type, std::uint8_t bits);
// The bits of a number that the type has.
std::uint8_t to_short_float(ShortFloat type, float value);

// The nearest number of the type, halves to the even neighbour. Beyond its range: its greatest when
// `saturates` or where the type has nothing else, otherwise infinity where the type has it, NaN where not.
// NaN is a negative zero in types that have none, as in the libraries of the format.
float rounded_to(ShortFloat type, float value, bool saturates);

// The same of e8m0, whose numbers are far apart: `mode` is "up" (away from zero), "down" or "nearest" (halves
// away from zero). Below its range: its least when `saturates`, otherwise NaN; NaN for less than 0.
float rounded_to_power(float value, bool saturates, std::string_view mode);

}  // namespace assay::inline model
