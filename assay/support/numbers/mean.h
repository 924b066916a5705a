#pragma once

#include <numeric>
#include <span>

namespace assay::inline support {

// NaN of no values.
inline double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

}  // namespace assay::inline support
