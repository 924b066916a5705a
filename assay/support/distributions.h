#pragma once

// Distribution functions that tests and intervals need.

namespace assay {

// x with P(Z <= x) = p for a standard normal Z; p in (0, 1).
double normal_quantile(double p);
// P(|Z| >= |z|).
double normal_two_sided(double z);
// P(X >= x) for X of the chi-squared distribution.
double chi_squared_tail(double x, double degrees);

}  // namespace assay
