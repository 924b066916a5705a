#pragma once

// Many tests at once.

#include <span>
#include <vector>

namespace assay::inline support {

// The smallest false discovery rate at which each p value counts as a discovery (Benjamini and Hochberg
// 1995). NaN stays NaN and is not counted among the tests.
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace assay::inline support
