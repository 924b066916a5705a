#include "assay/support/numbers/distributions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::inline support {
namespace {

// Lower regularised incomplete gamma function by its series, for x < a + 1.
double gamma_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < 100'000 && std::fabs(term) > std::fabs(sum) * 1e-16; ++n) sum += term *= x / (a + n);
  return sum * std::exp(-x + a * std::log(x) - std::lgamma(a));
}

// The upper one by its continued fraction (Lentz's method; Press et al., Numerical Recipes, 6.2), else.
double gamma_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, value = d;
  for (int i = 1; i < 100'000; ++i) {
    const double factor = -i * (i - a);
    b += 2;
    d = factor * d + b;
    if (std::fabs(d) < tiny) d = tiny;
    c = b + factor / c;
    if (std::fabs(c) < tiny) c = tiny;
    d = 1 / d;
    const double change = d * c;
    value *= change;
    if (std::fabs(change - 1) < 1e-15) break;
  }
  return value * std::exp(-x + a * std::log(x) - std::lgamma(a));
}

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

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

}  // namespace

double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  double low = -40, high = 0;
  for (double middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2)
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < p ? low : high) = middle;
  return (low + high) / 2;
}

double normal_two_sided(double z) { return std::erfc(std::fabs(z) / std::numbers::sqrt2); }

double normal_probability(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double incomplete_beta(double x, double y, double a, double b) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(y));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                   : 1 - front * beta_fraction(y, b, a) / b;
}

double student_two_sided(double t, double degrees) {
  const double square = t * t;
  return incomplete_beta(degrees / (degrees + square), square / (degrees + square), degrees / 2, 0.5);
}

// A Poisson mixture of usual ones (Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 2,
// 30), summed from the largest weight outwards.
double f_tail(double x, double numerator, double denominator, double noncentrality) {
  if (x <= 0) return 1;
  const double scaled = numerator * x, rest = denominator / (denominator + scaled),
               share = scaled / (denominator + scaled), mean = noncentrality / 2;
  const auto tail = [&](double j) {
    return incomplete_beta(rest, share, denominator / 2, numerator / 2 + j);
  };
  if (mean <= 0) return tail(0);
  const auto weight = [&](double j) { return std::exp(-mean + j * std::log(mean) - std::lgamma(j + 1)); };
  const double middle = std::floor(mean);
  // Rounding in lgamma() falls on all large weights alike, and so does not remain in the mean.
  double sum = 0, weights = 0;
  const auto add = [&](double j) {
    const double w = weight(j);
    sum += w * tail(j);
    weights += w;
    return w >= 1e-17;
  };
  for (double j = middle; j >= 0 && add(j); --j) continue;
  for (double j = middle + 1; add(j); ++j) continue;
  return sum / weights;
}

double f_critical(double p, double numerator, double denominator) {
  double low = 0, high = 1;
  while (f_tail(high, numerator, denominator) > p && high < 1e300) high *= 2;
  for (double middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2)
    (f_tail(middle, numerator, denominator) > p ? low : high) = middle;
  return (low + high) / 2;
}

double chi_squared_tail(double x, double degrees) {
  const double a = degrees / 2, half = x / 2;
  if (half <= 0) return 1;
  return half < a + 1 ? 1 - gamma_series(a, half) : gamma_fraction(a, half);
}

Interval wilson(double share, double n, double z) {
  const double weight = z * z / n, middle = (share + weight / 2) / (1 + weight),
               half = z / (1 + weight) * std::sqrt(share * (1 - share) / n + weight / (4 * n));
  // An end that is 0 or 1 is exactly that, whatever rounding leaves of it.
  return {share <= 0 ? 0 : std::max(0.0, middle - half), share >= 1 ? 1 : std::min(1.0, middle + half)};
}

double fisher_exact(double a, double m, double b, double n) {
  const double hits = a + b, least = std::max(0.0, hits - n), most = std::min(hits, m);
  const auto likelihood = [&](double k) {
    return log_choose(m, k) + log_choose(n, hits - k) - log_choose(m + n, hits);
  };
  constexpr double rounding = 1e-7;  // of equal probabilities
  const double observed = likelihood(a) + rounding;
  double p = 0;
  for (double k = least; k <= most; ++k) {
    const double one = likelihood(k);
    if (one <= observed) p += std::exp(one);
  }
  return std::min(1.0, p);
}

}  // namespace assay::inline support
