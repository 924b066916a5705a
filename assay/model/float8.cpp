#include "assay/model/float8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

struct Format {
  int mantissa, bias;
  bool infinities;  // otherwise all bits set is NaN, or the negative zero is
  bool no_negative_zero;
};

constexpr Format format_of(Float8 type) {
  switch (type) {
    case Float8::e4m3fn:
      return {3, 7, false, false};
    case Float8::e4m3fnuz:
      return {3, 8, false, true};
    case Float8::e5m2:
      return {2, 15, true, false};
    default:
      return {2, 16, false, true};
  }
}

// The finite numbers that are not negative, by their bits.
std::vector<float> magnitudes(Float8 type) {
  std::vector<float> all;
  for (int bits = 0; bits < 128; ++bits) {
    const float value = from_float8(type, static_cast<std::uint8_t>(bits));
    if (std::isfinite(value)) all.push_back(value);
  }
  return all;
}

const std::vector<float>& magnitudes_of(Float8 type) {
  static const std::array<std::vector<float>, 4> all{magnitudes(Float8::e4m3fn), magnitudes(Float8::e4m3fnuz),
                                                     magnitudes(Float8::e5m2), magnitudes(Float8::e5m2fnuz)};
  return all[static_cast<std::size_t>(type) - static_cast<std::size_t>(Float8::e4m3fn)];
}

}  // namespace

float from_float8(Float8 type, std::uint8_t bits) {
  const Format format = format_of(type);
  const int magnitude = bits & 0x7f, fraction = magnitude & ((1 << format.mantissa) - 1);
  const int exponent = magnitude >> format.mantissa, largest = 0x7f >> format.mantissa;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if (format.no_negative_zero && bits == 0x80) return nan;
  if (format.infinities && exponent == largest) {
    if (fraction != 0) return nan;
    return bits < 0x80 ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
  }
  if (!format.infinities && !format.no_negative_zero && magnitude == 0x7f) return nan;
  const int whole = exponent > 0 ? fraction + (1 << format.mantissa) : fraction;
  const float value =
      std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - format.bias - format.mantissa);
  return bits < 0x80 ? value : -value;
}

float rounded_to(Float8 type, float value, bool saturates) {
  if (std::isnan(value)) return value;
  const Format format = format_of(type);
  const std::vector<float>& known = magnitudes_of(type);
  const float magnitude = std::abs(value), greatest = known.back();
  float result = 0;
  // The first number beyond the greatest would be as far above it as the one before is below.
  const float beyond = greatest + (greatest - known[known.size() - 2]) / 2;
  const bool even = known.size() % 2 == 1;  // the bits of the greatest
  if (magnitude > beyond || (magnitude == beyond && !even)) {
    result = saturates           ? greatest
             : format.infinities ? std::numeric_limits<float>::infinity()
                                 : std::numeric_limits<float>::quiet_NaN();
  } else {
    const auto above = std::ranges::lower_bound(known, magnitude);
    const auto at = static_cast<std::size_t>(above - known.begin());
    if (above == known.end()) {
      result = greatest;
    } else if (*above == magnitude || at == 0) {
      result = *above;
    } else {
      const float up = *above - magnitude, down = magnitude - known[at - 1];
      result = up < down || (up == down && at % 2 == 0) ? *above : known[at - 1];
    }
  }
  if (format.no_negative_zero && result == 0) return 0;
  return std::signbit(value) ? -result : result;
}

}  // namespace assay
