#pragma once

// What repeated runs say about a mean: standard deviation and confidence interval by Student's t distribution.

#include <cstddef>
#include <optional>
#include <span>

namespace assay {

struct Interval {
  std::size_t count = 0;
  double mean = 0;
  // Nothing for a single value. deviation: divided by count - 1. low, high: the interval of the mean at the level asked for.
  std::optional<double> deviation, low, high;
};

// REQUIRES: not empty, 0 < level < 1.
Interval interval_of(std::span<const double> values, double level = 0.95);

// The interval of the mean of a[i] - b[i]: runs that share a seed are compared with each other (paired t interval).
// REQUIRES: as many values in both.
Interval paired_difference(std::span<const double> a, std::span<const double> b, double level = 0.95);

// The t below which a Student t variable with `degrees` of freedom stays with probability p. Exact to about 12 digits.
// REQUIRES: 0 < p < 1, degrees > 0.
double student_quantile(double p, double degrees);

// Probability that the variable is at most t.
double student_probability(double t, double degrees);

}  // namespace assay
