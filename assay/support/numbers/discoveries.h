#pragma once

// p values of many tests at once. NaN stays NaN and is not counted among the tests.

#include <span>
#include <vector>

namespace assay::inline support {

// The smallest false discovery rate at which each counts as a discovery (Benjamini and Hochberg 1995).
std::vector<double> benjamini_hochberg(std::span<const double> p);
// Adjusted so that the probability of any false rejection is held (Holm 1979).
std::vector<double> holm(std::span<const double> p);

}  // namespace assay::inline support
