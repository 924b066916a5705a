#include <assay/retraining.h>

#include <cmath>
#include <vector>

#include "assay/support/numbers/distributions.h"

namespace assay::retraining {

double student_probability(double t, double degrees) {
  const double square = t * t, tail = 0.5 * incomplete_beta(degrees / (degrees + square),
                                                            square / (degrees + square), degrees / 2, 0.5);
  return t > 0 ? 1 - tail : tail;
}

double student_quantile(double p, double degrees) {
  if (p < 0.5) return -student_quantile(1 - p, degrees);
  double low = 0, high = 1;
  while (student_probability(high, degrees) < p && high < 1e300) high *= 2;
  for (double middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2) {
    (student_probability(middle, degrees) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

Interval interval_of(std::span<const double> values, double level) {
  Interval interval;
  interval.count = values.size();
  const auto n = static_cast<double>(values.size());
  for (const double v : values) interval.mean += v / n;
  if (values.size() < 2) return interval;
  double squares = 0;
  for (const double v : values) squares += (v - interval.mean) * (v - interval.mean);
  interval.deviation = std::sqrt(squares / (n - 1));
  const double half = student_quantile((1 + level) / 2, n - 1) * *interval.deviation / std::sqrt(n);
  interval.low = interval.mean - half;
  interval.high = interval.mean + half;
  return interval;
}

Interval paired_difference(std::span<const double> a, std::span<const double> b, double level) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  return interval_of(differences, level);
}

}  // namespace assay::retraining
