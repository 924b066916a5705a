#pragma once

// Distribution functions, tests and intervals.

namespace assay::inline support {

struct Interval {
  double low = 0, high = 0;
};

// Of a share of n draws (Wilson 1927), z standard deviations to each side.
Interval wilson(double share, double n, double z);
// Fisher's exact test of a 2 x 2 table, two-sided: the probability of all tables with the same margins that
// are at most as likely. `a` of `m` and `b` of `n` are hits. O(min(a + b, m)).
double fisher_exact(double a, double m, double b, double n);

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

}  // namespace assay::inline support
