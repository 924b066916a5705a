#include "assay/mutation/killing/sequential.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <assay/error.h>
#include "assay/support/numbers/distributions.h"

namespace assay::mutation {
namespace {

constexpr int grid_points = 801;  // odd, for Simpson's rule

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

// Density of the score process (z times the root of the information) among paths that have not ended, over
// -limit to limit.
struct Going {
  double limit = 0;
  std::vector<double> density;

  double at(int i) const { return limit * (2.0 * i / (grid_points - 1) - 1); }
  double weight(int i) const {
    const double step = 2 * limit / (grid_points - 1);
    return step / 3 * (i == 0 || i == grid_points - 1 ? 1 : i % 2 == 1 ? 4 : 2);
  }
};

// Probability that a path going on now is beyond -limit or limit after an increment of this deviation.
double leaving(const Going& now, double limit, double deviation) {
  double sum = 0;
  for (int i = 0; i < grid_points; ++i) {
    const double x = now.at(i);
    const double beyond =
        normal_probability((-limit - x) / deviation) + normal_probability((x - limit) / deviation);
    sum += now.weight(i) * now.density[i] * beyond;
  }
  return sum;
}

Going moved(const Going& now, double limit, double deviation) {
  Going next{limit, std::vector<double>(grid_points)};
  for (int j = 0; j < grid_points; ++j) {
    double sum = 0;
    for (int i = 0; i < grid_points; ++i)
      sum +=
          now.weight(i) * now.density[i] * normal_density((next.at(j) - now.at(i)) / deviation) / deviation;
    next.density[j] = sum;
  }
  return next;
}

}  // namespace

double spent_alpha(Spending spending, double share, double alpha) {
  const double t = std::min(share, 1.0);
  switch (spending) {
    case Spending::obrien_fleming:
      return 2 * normal_two_sided(normal_quantile(1 - alpha / 4) / std::sqrt(t));
    case Spending::pocock:
      return alpha * std::log(1 + (std::numbers::e - 1) * t);
    case Spending::none:
      break;
  }
  return alpha;
}

std::vector<double> nominal_levels(Spending spending, std::span<const double> shares, double alpha) {
  if (spending == Spending::none) return std::vector<double>(shares.size(), alpha);
  std::vector<double> levels;
  Going now;
  double before = 0, spent = 0;
  for (const double share : shares) {
    if (!(share > before)) fail(Fault::internal, "looks must be at ascending shares of the information");
    const double wanted = spent_alpha(spending, share, alpha) - spent, deviation = std::sqrt(share - before),
                 root = std::sqrt(share);
    const auto beyond = [&](double z) {
      return levels.empty() ? normal_two_sided(z) : leaving(now, z * root, deviation);
    };
    double low = 0, high = 12;  // of z
    while (high - low > 1e-9) {
      const double middle = (low + high) / 2;
      (beyond(middle) > wanted ? low : high) = middle;
    }
    const double limit = std::min(high, 8.0) * root;
    if (levels.empty()) {
      now = {limit, std::vector<double>(grid_points)};
      for (int i = 0; i < grid_points; ++i) now.density[i] = normal_density(now.at(i) / root) / root;
    } else {
      now = moved(now, limit, deviation);
    }
    levels.push_back(normal_two_sided(high));
    spent += wanted;
    before = share;
  }
  return levels;
}

}  // namespace assay::mutation
