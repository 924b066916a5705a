#include "assay/support/distributions.h"

#include <cmath>
#include <numbers>

namespace assay {
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

}  // namespace

double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  double low = -40, high = 0;
  for (double middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2)
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < p ? low : high) = middle;
  return (low + high) / 2;
}

double normal_two_sided(double z) { return std::erfc(std::fabs(z) / std::numbers::sqrt2); }

double chi_squared_tail(double x, double degrees) {
  const double a = degrees / 2, half = x / 2;
  if (half <= 0) return 1;
  return half < a + 1 ? 1 - gamma_series(a, half) : gamma_fraction(a, half);
}

}  // namespace assay
