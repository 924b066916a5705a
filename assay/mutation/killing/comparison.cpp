#include "assay/mutation/killing/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "assay/support/numbers/distributions.h"

namespace assay::mutation {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double pooled_deviation(const Spread& a, const Spread& b) {
  return std::sqrt((a.squares + b.squares) / (a.count + b.count - 2));
}

// Slope of the linear model over its standard error.
double wald(const Spread& a, const Spread& b) {
  const double s = pooled_deviation(a, b);
  return (b.mean - a.mean) / (s * std::sqrt(1.0 / a.count + 1.0 / b.count));
}

double logistic_p(const Spread& a, const Spread& b, std::size_t records) {
  const double n = records, na = a.count, nb = b.count;
  // A share of 0 or 1 has no logit: half a record is added to either side, as is usual.
  const auto share = [&](const Spread& of, double count) {
    const double all = n * count, right = all * of.mean;
    return right <= 0 || right >= all ? (right + 0.5) / (all + 1) : of.mean;
  };
  const double pa = share(a, na), pb = share(b, nb), degrees = na + nb - 2;
  const double pearson = n * (a.squares / (pa * (1 - pa)) + b.squares / (pb * (1 - pb)));
  const double variance = 1 / (n * na * pa * (1 - pa)) + 1 / (n * nb * pb * (1 - pb));
  const double slope = std::log(pb / (1 - pb)) - std::log(pa / (1 - pa));
  return student_two_sided(slope / std::sqrt(pearson / degrees * variance), degrees);
}

// Number of ways in which a ranks of a + b sum to each value above the least, over all ways, by the recursion
// of Mann and Whitney (1947).
std::vector<double> rank_sum_counts(std::size_t a, std::size_t b) {
  std::vector<double> counts(a * b + 1, 0);
  counts[0] = 1;
  // The Gaussian binomial coefficient: multiply by (1 - q^(b + i)), divide by (1 - q^i).
  for (std::size_t i = 1; i <= a; ++i) {
    for (std::size_t u = counts.size(); u-- > b + i;) counts[u] -= counts[u - b - i];
    for (std::size_t u = i; u < counts.size(); ++u) counts[u] += counts[u - i];
  }
  return counts;
}

double rank_sum_p(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> all;
  for (const double x : a) all.emplace_back(x, true);
  for (const double x : b) all.emplace_back(x, false);
  std::ranges::sort(all);
  double ranks = 0, ties = 0;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && all[end].first == all[i].first) ++end;
    const double count = end - i;
    ties += count * (count * count - 1);
    const double rank = (i + end + 1) / 2.0;
    for (; i < end; ++i) ranks += all[i].second ? rank : 0;
  }
  const double na = a.size(), nb = b.size(), n = na + nb;
  const double u = ranks - na * (na + 1) / 2, middle = na * nb / 2;
  if (ties == 0 && a.size() * b.size() <= 400) {
    const std::vector<double> counts = rank_sum_counts(a.size(), b.size());
    const std::size_t low = std::lround(std::min(u, na * nb - u));
    double below = 0, total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      total += counts[i];
      if (i <= low) below += counts[i];
    }
    return std::min(1.0, 2 * below / total);
  }
  const double variance = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0) return 1;
  return normal_two_sided(std::max(0.0, std::fabs(u - middle) - 0.5) / std::sqrt(variance));
}

}  // namespace

Spread spread_of(std::span<const double> values) {
  Spread spread{values.size(), 0, 0};
  for (const double x : values) spread.mean += x / values.size();
  // Equal values have no spread, even if their mean is rounded.
  if (std::ranges::all_of(values, [&](double x) { return x == values.front(); })) {
    if (!values.empty()) spread.mean = values.front();
    return spread;
  }
  for (const double x : values) spread.squares += (x - spread.mean) * (x - spread.mean);
  return spread;
}

double cohens_d(std::span<const double> a, std::span<const double> b) {
  const Spread of_a = spread_of(a), of_b = spread_of(b);
  const double difference = of_a.mean - of_b.mean, s = pooled_deviation(of_a, of_b);
  if (s > 0) return difference / s;
  return difference == 0 ? 0 : std::copysign(infinite, difference);
}

double upper_limit(double d, std::size_t a, std::size_t b) {
  const double na = a, nb = b;
  return d + normal_quantile(0.95) * std::sqrt((na + nb) / (na * nb) + d * d / (2 * (na + nb)));
}

double p_of(KillTest test, std::span<const double> a, std::span<const double> b, std::size_t records) {
  const Spread of_a = spread_of(a), of_b = spread_of(b);
  if (of_a.squares + of_b.squares == 0) return of_a.mean == of_b.mean ? 1 : 0;
  switch (test) {
    case KillTest::glm:
      return normal_two_sided(wald(of_a, of_b));
    case KillTest::t:
      return student_two_sided(wald(of_a, of_b), a.size() + b.size() - 2);
    case KillTest::quasi_binomial:
      return logistic_p(of_a, of_b, std::max<std::size_t>(records, 1));
    case KillTest::wilcoxon:
      break;
  }
  return rank_sum_p(a, b);
}

double power_of(double d, std::size_t values, double alpha) {
  if (std::isinf(d)) return 1;
  const double n = values;
  const double critical = f_critical(alpha, 1, n - 2), noncentrality = n * d * d / 4;
  // Power grows with the noncentrality: where a smaller one has nearly all of it, the sum over as many terms
  // as a large one needs is spared.
  for (double smaller = 1e4;; smaller *= 16) {
    if (noncentrality <= smaller) return f_tail(critical, 1, n - 2, noncentrality);
    if (f_tail(critical, 1, n - 2, smaller) > 1 - 1e-12) return 1;
  }
}

std::size_t runs_for_power(double d, double power, double alpha, std::size_t most) {
  const auto enough = [&](std::size_t runs) { return power_of(d, 2 * runs, alpha) >= power; };
  if (d == 0 || !enough(most)) return 0;
  std::size_t low = 1, high = most;  // `high` is enough, `low` is not
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace assay::mutation
