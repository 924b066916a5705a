#include "assay/mutation/operators/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::mutation {

float rounded_to(const BinaryFormat& format, float value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.least_exponent);
  const double quantum = std::ldexp(1.0, exponent - format.fraction_bits);
  const double rounded = std::nearbyint(value / quantum) * quantum;  // exact but for the rounding requested
  if (std::abs(rounded) > format.greatest)
    return std::copysign(std::numeric_limits<float>::infinity(), value);
  return static_cast<float>(rounded);
}

}  // namespace assay::mutation
