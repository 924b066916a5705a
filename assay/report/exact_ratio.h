#pragma once

// Thresholds and figures as they are compared: without rounding.

#include <compare>
#include <string_view>

#include "assay/support/numbers/exact_count.h"

namespace assay::report {

// A sign and numerator / denominator.
struct ExactRatio {
  bool negative = false;
  ExactCount numerator = ExactCount(0), denominator = ExactCount(1);
};

std::strong_ordering compare(const ExactRatio& a, const ExactRatio& b);
// a - b.
ExactRatio difference(const ExactRatio& a, const ExactRatio& b);

// REQUIRES: as parse_gate() writes thresholds.
ExactRatio of_decimal(std::string_view text);
// The value of a float64. REQUIRES: finite.
ExactRatio of_double(double value);

}  // namespace assay::report
