#pragma once

// Whether networks trained with a fault do worse than networks trained without it: tests and effect sizes
// over the scores of repeated trainings (Humbatova et al., DeepCrime, ISSTA 2021).

#include <cstddef>
#include <span>

#include <assay/statistical_killing.h>

namespace assay::mutation {

// Mean and sum of squared deviations.
struct Spread {
  std::size_t count = 0;
  double mean = 0, squares = 0;
};
Spread spread_of(std::span<const double> values);

// (mean a - mean b) / s, s^2 pooled over both with their degrees of freedom. Where nothing spreads, infinite
// with the sign of the difference, or 0 for equal means. REQUIRES at least two values in each.
double cohens_d(std::span<const double> a, std::span<const double> b);

// 95 % upper limit of the true d: d + 1.645 times its standard error (Hedges and Olkin 1985), infinite where
// d is.
double upper_limit(double d, std::size_t a, std::size_t b);

// Two-sided p that both samples have one distribution. Where nothing spreads, 0 for different means and 1 for
// equal ones.
//   glm             Wald's z of the slope of a Gaussian linear model score ~ 1 + mutant, by normal quantiles:
//                   what DeepCrime computes
//   t               the same slope by Student's t
//   quasi-binomial  a logistic model of shares of `records`, its dispersion estimated by Pearson's X^2, by
//                   Student's t; scores are shares in [0, 1]
//   wilcoxon        the rank-sum test for independent samples: exact up to 400 pairs of values without ties,
//   else
//                   by the normal approximation with corrections for ties and continuity
// REQUIRES at least two values in each.
double p_of(KillTest test, std::span<const double> a, std::span<const double> b, std::size_t records = 0);

// Power of the F test of two groups with `values` values together at this d: f = |d| / 2 (Cohen 1988).
double power_of(double d, std::size_t values, double alpha);

// Values in each of two equal groups that give this power; 0 where more than `most` would be needed.
std::size_t runs_for_power(double d, double power, double alpha, std::size_t most = 10'000);

}  // namespace assay::mutation
