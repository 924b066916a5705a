#pragma once

// Sums and extremes of many numbers by SIMD, in several chains, so that none waits for the one before. The
// order is the same on every processor.

#include <span>

namespace assay::inline support {

// In float64: each of 32 sums over every 32nd number, then these.
double simd_sum(std::span<const float> numbers);

// The same of the squares of what lies between each number and `about`.
double simd_squares(std::span<const float> numbers, double about);

// The least and the greatest; infinities where there are no numbers.
struct Extremes {
  float least = 0, greatest = 0;
};
Extremes extremes(std::span<const float> numbers);

}  // namespace assay::inline support
