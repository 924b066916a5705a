#pragma once

// Shares of a sample.

#include <cstddef>

#include "assay/support/numbers/distributions.h"

namespace assay::inline support {

// The probability with which at most `hits` of `trials` have a probability of `miss`.
inline double binomial_upper_end(double hits, double trials, double miss) {
  constexpr int halvings = 200;
  double low = hits / trials, high = 1;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    // P(X <= k) = I_{1 - p}(n - k, k + 1).
    (incomplete_beta(1 - middle, middle, trials - hits, hits + 1) > miss ? low : high) = middle;
  }
  return high;
}

// Interval of Clopper and Pearson (1934) for a probability with `hits` of `trials`; each end is missed with a
// probability of at most `miss`. REQUIRES hits <= trials; 0 to 1 without trials.
inline Interval clopper_pearson(std::size_t hits, std::size_t trials, double miss) {
  const auto k = static_cast<double>(hits), n = static_cast<double>(trials);
  return {hits == 0 ? 0 : 1 - binomial_upper_end(n - k, n, miss),
          hits == trials ? 1 : binomial_upper_end(k, n, miss)};
}

}  // namespace assay::inline support
