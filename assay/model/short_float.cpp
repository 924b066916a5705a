#include "assay/model/short_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace assay::inline model {
namespace {

// The value beyond the greatest number.
enum class Beyond { nothing, all_bits_are_nan, negative_zero_is_nan, infinity };

struct Format {
  int bits, mantissa, bias;
  Beyond beyond;
};

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

constexpr Format format_of(ShortFloat type) {
  switch (type) {
    case ShortFloat::e4m3fn:
      return {8, 3, 7, Beyond::all_bits_are_nan};
    case ShortFloat::e4m3fnuz:
      return {8, 3, 8, Beyond::negative_zero_is_nan};
    case ShortFloat::e5m2:
      return {8, 2, 15, Beyond::infinity};
    case ShortFloat::e5m2fnuz:
      return {8, 2, 16, Beyond::negative_zero_is_nan};
    case ShortFloat::e2m1:
      return {4, 1, 1, Beyond::nothing};
    case ShortFloat::e2m3:
      return {6, 3, 1, Beyond::nothing};
    case ShortFloat::e3m2:
      return {6, 2, 3, Beyond::nothing};
    case ShortFloat::e8m0:
      break;
  }
  return {8, 0, 127, Beyond::all_bits_are_nan};
}

// The finite numbers that are not negative, by their bits.
std::vector<float> magnitudes(ShortFloat type) {
  std::vector<float> all;
  for (int bits = 0; bits < 1 << (format_of(type).bits - 1); ++bits) {
    const float value = from_short_float(type, static_cast<std::uint8_t>(bits));
    if (std::isfinite(value)) all.push_back(value);
  }
  return all;
}

const std::vector<float>& magnitudes_of(ShortFloat type) {
  static const std::map<ShortFloat, std::vector<float>> all = [] {
    std::map<ShortFloat, std::vector<float>> known;
    for (const ShortFloat one : {ShortFloat::e4m3fn, ShortFloat::e4m3fnuz, ShortFloat::e5m2,
                                 ShortFloat::e5m2fnuz, ShortFloat::e2m1, ShortFloat::e2m3, ShortFloat::e3m2})
      known[one] = magnitudes(one);
    return known;
  }();
  return all.at(type);
}

float beyond_of(const Format& format, float greatest, bool saturates) {
  if (saturates || format.beyond == Beyond::nothing) return greatest;
  return format.beyond == Beyond::infinity ? std::numeric_limits<float>::infinity() : nan;
}

}  // namespace

int bits_of(ShortFloat type) { return format_of(type).bits; }

float from_short_float(ShortFloat type, std::uint8_t bits) {
  if (type == ShortFloat::e8m0) return bits == 0xff ? nan : std::ldexp(1.0F, bits - 127);
  const Format format = format_of(type);
  const int sign = 1 << (format.bits - 1), magnitude = bits & (sign - 1);
  const bool negative = (bits & sign) != 0;
  const int fraction = magnitude & ((1 << format.mantissa) - 1), exponent = magnitude >> format.mantissa;
  if (format.beyond == Beyond::negative_zero_is_nan && negative && magnitude == 0) return nan;
  if (format.beyond == Beyond::all_bits_are_nan && magnitude == sign - 1) return nan;
  if (format.beyond == Beyond::infinity && exponent == (sign - 1) >> format.mantissa) {
    if (fraction != 0) return nan;
    return negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  }
  const int whole = exponent > 0 ? fraction + (1 << format.mantissa) : fraction;
  const float value =
      std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - format.bias - format.mantissa);
  return negative ? -value : value;
}

std::uint8_t to_short_float(ShortFloat type, float value) {
  for (int bits = 0; bits < 1 << format_of(type).bits; ++bits) {
    const float one = from_short_float(type, static_cast<std::uint8_t>(bits));
    if (std::isnan(value) ? std::isnan(one) : one == value && std::signbit(one) == std::signbit(value))
      return static_cast<std::uint8_t>(bits);
  }
  return 0;
}

float rounded_to(ShortFloat type, float value, bool saturates) {
  if (type == ShortFloat::e8m0) return rounded_to_power(value, saturates, "up");
  const Format format = format_of(type);
  if (std::isnan(value)) return format.beyond == Beyond::nothing ? -0.0F : value;
  const std::vector<float>& known = magnitudes_of(type);
  const float magnitude = std::abs(value), greatest = known.back();
  float result = 0;
  // The first number beyond the greatest would be as far above it as the one before is below.
  const float beyond = greatest + (greatest - known[known.size() - 2]) / 2;
  const bool even = known.size() % 2 == 1;  // the bits of the greatest
  if (magnitude > beyond || (magnitude == beyond && !even)) {
    result = beyond_of(format, greatest, saturates);
  } else {
    const auto above = std::ranges::lower_bound(known, magnitude);
    const std::size_t at = above - known.begin();
    if (above == known.end()) {
      result = greatest;
    } else if (*above == magnitude || at == 0) {
      result = *above;
    } else {
      const float up = *above - magnitude, down = magnitude - known[at - 1];
      result = up < down || (up == down && at % 2 == 0) ? *above : known[at - 1];
    }
  }
  if (format.beyond == Beyond::negative_zero_is_nan && result == 0) return 0;
  return std::signbit(value) ? -result : result;
}

float rounded_to_power(float value, bool saturates, std::string_view mode) {
  constexpr int least = -127, greatest = 127;
  if (!std::isfinite(value) || value < 0) return nan;
  int exponent = least - 1;  // of the power that is not above the value
  float rest = 0;            // of the value over that power, less 1
  if (value > 0) {
    rest = 2 * std::frexp(value, &exponent) - 1;
    exponent -= 1;
  }
  if (rest > 0 && (mode == "up" || (mode == "nearest" && rest >= 0.5F))) ++exponent;
  if (exponent < least || exponent > greatest) {
    if (!saturates) return nan;
    exponent = std::clamp(exponent, least, greatest);
  }
  return std::ldexp(1.0F, exponent);
}

}  // namespace assay::inline model
