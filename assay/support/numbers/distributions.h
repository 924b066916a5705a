#pragma once

// Distribution functions that tests and intervals need.

namespace assay {

// x with P(Z <= x) = p for a standard normal Z; p in (0, 1).
double normal_quantile(double p);
// P(|Z| >= |z|).
double normal_two_sided(double z);
// P(Z <= z).
double normal_probability(double z);
// Regularised incomplete beta function I_x(a, b); y = 1 - x is given apart because it may be far smaller than
// rounding.
double incomplete_beta(double x, double y, double a, double b);
// P(|T| >= |t|) for T of Student's t distribution.
double student_two_sided(double t, double degrees);
// P(F >= x) for F of the F distribution whose numerator's chi-squared has this noncentrality (0: the usual
// one).
double f_tail(double x, double numerator, double denominator, double noncentrality = 0);
// x with P(F >= x) = p for the usual F distribution.
double f_critical(double p, double numerator, double denominator);
// P(X >= x) for X of the chi-squared distribution.
double chi_squared_tail(double x, double degrees);

}  // namespace assay
