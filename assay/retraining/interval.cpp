#include <assay/retraining.h>

#include <cmath>
#include <vector>

namespace assay::retraining {
namespace {

// Continued fraction of the incomplete beta function by Lentz's method (Press et al., Numerical
// Recipes, 6.4); converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double tiny = 1e-300;
  const auto kept = [](double v) { return std::fabs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / kept(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m < 10'000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept(1 + even * d);
    c = kept(1 + even / c);
    value *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept(1 + odd * d);
    c = kept(1 + odd / c);
    const double change = c * d;
    value *= change;
    if (std::fabs(change - 1) < 1e-15) break;
  }
  return value;
}

// Regularised incomplete beta function I_x(a, b); y = 1 - x is given apart because it may be far smaller than
// rounding.
double incomplete_beta(double x, double y, double a, double b) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(y));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                   : 1 - front * beta_fraction(y, b, a) / b;
}

}  // namespace

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
