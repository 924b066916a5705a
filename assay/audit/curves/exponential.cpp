#include <algorithm>
#include <cmath>

#include "assay/audit/curves/curve_forms.h"
#include "assay/audit/curves/least_squares.h"

namespace assay::audit {
namespace {

// With the rate given, a line through powers: x as a share of its range, so that powers are at most 1.
struct Growth {
  double least = 0, range = 1, rate = 0;
  double power(double x) const { return std::exp(rate * ((x - least) / range - (rate > 0 ? 1 : 0))); }
  std::vector<double> powers(std::span<const double> x) const {
    std::vector<double> all;
    for (const double one : x) all.push_back(power(one));
    return all;
  }
};

double squared_error(const Growth& growth, std::span<const double> x, std::span<const double> y) {
  const std::vector<double> direction = from_mean(growth.powers(x)), rest = from_mean(y);
  return sum_of_squares(rest) - along(direction, rest) * product_of(direction, rest);
}

// The rate of least error between two rates, by golden sections of their logarithms.
double best_between(Growth growth, double low, double high, std::span<const double> x,
                    std::span<const double> y) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  const auto error = [&](double share) {
    growth.rate = low * std::pow(high / low, share);
    return squared_error(growth, x, y);
  };
  double from = 0, to = 1, left = 1 - golden, right = golden, at_left = error(left), at_right = error(right);
  for (int step = 0; step < 40; ++step) {
    if (at_left <= at_right) {
      to = right, right = left, at_right = at_left;
      left = to - golden * (to - from), at_left = error(left);
    } else {
      from = left, left = right, at_left = at_right;
      right = from + golden * (to - from), at_right = error(right);
    }
  }
  return low * std::pow(high / low, (from + to) / 2);
}

}  // namespace

Curve exponential(std::span<const double> x, std::span<const double> y) {
  constexpr double slowest = 0.1, fastest = 20, step = 1.3;  // over the range of x
  const auto [least, most] = std::ranges::minmax(x);
  Growth growth{.least = least, .range = most > least ? most - least : 1, .rate = slowest};
  double best = growth.rate, error = squared_error(growth, x, y);
  for (const double sign : {1.0, -1.0}) {
    for (double rate = slowest; rate <= fastest; rate *= step) {
      growth.rate = sign * rate;
      const double found = squared_error(growth, x, y);
      if (found < error) error = found, best = growth.rate;
    }
  }
  growth.rate = best_between(growth, best / step, best * step, x, y);
  const std::vector<double> powers = growth.powers(x);
  const double mean_y = mean_of(y), mean_power = mean_of(powers), slope = along(from_mean(powers), y);
  return [=](double at) { return mean_y + slope * (growth.power(at) - mean_power); };
}

}  // namespace assay::audit
