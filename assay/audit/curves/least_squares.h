#pragma once

// Sums that fits by least squares are made of.

#include <numeric>
#include <span>
#include <vector>

#include "assay/support/numbers/mean.h"

namespace assay::audit {

inline double product_of(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
inline double sum_of_squares(std::span<const double> values) { return product_of(values, values); }

// The part of `y` along `direction`; nothing along what is `least` long at most, squared.
inline double along(std::span<const double> direction, std::span<const double> y, double least = 0) {
  const double square = sum_of_squares(direction);
  return square > least ? product_of(direction, y) / square : 0;
}

inline std::vector<double> from_mean(std::span<const double> values) {
  const double mean = mean_of(values);
  std::vector<double> moved;
  for (const double one : values) moved.push_back(one - mean);
  return moved;
}

}  // namespace assay::audit
