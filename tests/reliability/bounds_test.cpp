// Bounds on the probability of failure, against published values, sums of binomial probabilities and laws.

#include <gmock/gmock.h>

#include <cmath>

#include <assay/reliability.h>

namespace assay::test {
using namespace reliability;
namespace {

// P(X <= k) for X of n trials, summed up.
double at_most(std::size_t k, std::size_t n, double p) {
  double sum = 0;
  for (std::size_t i = 0; i <= k; ++i) {
    const auto x = static_cast<double>(i), m = static_cast<double>(n);
    sum += std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) + x * std::log(p) +
                    (m - x) * std::log1p(-p));
  }
  return sum;
}

TEST(ClopperPearson, EndsAreWhereTheCountBecomesUnlikely) {
  for (const auto& [k, n] : {std::pair<std::size_t, std::size_t>{3, 50}, {1, 10}, {120, 1000}, {49, 50}}) {
    const auto [low, high] = clopper_pearson(k, n, 0.025);
    EXPECT_NEAR(at_most(k, n, high), 0.025, 1e-9) << k << " " << n;
    EXPECT_NEAR(1 - at_most(k - 1, n, low), 0.025, 1e-9) << k << " " << n;
  }
}

TEST(ClopperPearson, HasTheRuleOfThree) {
  // No failure in n trials: 1 - 0.05^(1 / n), about 3 / n.
  const auto [low, high] = clopper_pearson(0, 300, 0.05);
  EXPECT_EQ(low, 0);
  EXPECT_NEAR(high, 1 - std::pow(0.05, 1.0 / 300), 1e-12);
  EXPECT_NEAR(high, 3.0 / 300, 1e-4);
  EXPECT_EQ(clopper_pearson(5, 5, 0.05).second, 1);
  EXPECT_NEAR(clopper_pearson(5, 5, 0.05).first, std::pow(0.05, 0.2), 1e-12);
  EXPECT_EQ(clopper_pearson(0, 0, 0.05), std::pair(0.0, 1.0));
}

TEST(WeightedBound, IsThatOfOneKindWhereThereIsOne) {
  const Stratum one[] = {{"all", 1, 4, 200}};
  const WeightedBound found = weighted_bound(one, 0.05);
  EXPECT_EQ(found.estimate, 0.02);
  EXPECT_EQ(found.upper, clopper_pearson(4, 200, 0.05).second);
}

TEST(WeightedBound, CountsKindsAsOftenAsOperationHasThem) {
  const Stratum kinds[] = {{"sun", 0.9, 1, 100}, {"fog", 0.1, 10, 20}};
  const WeightedBound found = weighted_bound(kinds, 0.1);
  EXPECT_NEAR(found.estimate, 0.9 * 0.01 + 0.1 * 0.5, 1e-15);
  EXPECT_NEAR(found.upper,
              0.9 * clopper_pearson(1, 100, 0.05).second + 0.1 * clopper_pearson(10, 20, 0.05).second, 1e-15);
}

TEST(WeightedBound, KindsWithoutRecordsMayAlwaysFail) {
  const Stratum kinds[] = {{"sun", 0.7, 0, 1000}, {"snow", 0.3, 0, 0}};
  const WeightedBound found = weighted_bound(kinds, 0.05);
  EXPECT_EQ(found.estimate, 0.3);
  EXPECT_GT(found.upper, 0.3);
  EXPECT_LT(found.upper, 0.31);
}

double bound_of(const std::vector<NamedBound>& all, const std::string& name) {
  for (const NamedBound& one : all)
    if (one.name == name) return one.bound;
  return -1;
}

TEST(GeneralisationBounds, AreTheFormulasOfTheirSources) {
  const auto found = generalisation_bounds({.failures = 20,
                                            .records = 1000,
                                            .miss = 0.01,
                                            .candidates = 8,
                                            .training = std::pair<std::size_t, std::size_t>{5, 10000},
                                            .bits = 800});
  EXPECT_NEAR(bound_of(found, "test set, Hoeffding"), 0.02 + std::sqrt(std::log(100.0) / 2000), 1e-12);
  EXPECT_EQ(bound_of(found, "test set, exact"), clopper_pearson(20, 1000, 0.01).second);
  EXPECT_EQ(bound_of(found, "best of 8"), clopper_pearson(20, 1000, 0.01 / 8).second);
  // kl(5e-4 || p) = (800 ln 2 + ln 100) / 10000.
  const double p = bound_of(found, "Occam's razor"), q = 5e-4;
  EXPECT_NEAR(q * std::log(q / p) + (1 - q) * std::log((1 - q) / (1 - p)),
              (800 * std::log(2.0) + std::log(100.0)) / 10000, 1e-9);
  EXPECT_LT(bound_of(found, "test set, exact"), bound_of(found, "best of 8"));
  EXPECT_LT(bound_of(found, "best of 8"), bound_of(found, "test set, Hoeffding"));
}

TEST(GeneralisationBounds, OfLargeNetworksSayNothing) {
  const auto found = generalisation_bounds({.failures = 0,
                                            .records = 100,
                                            .training = std::pair<std::size_t, std::size_t>{0, 1000},
                                            .bits = 32e6});
  EXPECT_NEAR(bound_of(found, "Occam's razor"), 1, 1e-9);
  EXPECT_EQ(bound_of(found, "best of 1"), -1);
}

TEST(Stability, CountsWhereNetworksAgree) {
  const std::vector<std::int64_t> labels{0, 1, 2, 0};
  const std::vector<std::vector<std::int64_t>> classes{{0, 1, 2, 1}, {0, 1, 1, 1}, {0, 2, 2, 2}};
  const Stability found = stability_of(classes, labels);
  EXPECT_THAT(found.accuracies, testing::ElementsAre(0.75, 0.5, 0.5));
  EXPECT_EQ(found.all_right, 1U);
  EXPECT_EQ(found.some_right, 2U);
  EXPECT_EQ(found.none_right, 1U);
  // Pairs differ on 1, 2 and 3 of four records.
  EXPECT_NEAR(found.disagreement, 6.0 / 12, 1e-15);
  EXPECT_NEAR(found.mean, 1.75 / 3, 1e-15);
  EXPECT_NEAR(found.deviation, std::sqrt(2 * 0.0069444444 + 0.0277777778) / std::sqrt(2.0), 1e-6);
  // t of 0.975 with two degrees of freedom: 4.3027.
  ASSERT_TRUE(found.interval);
  EXPECT_NEAR(found.interval->second - found.mean, 4.302653 * found.deviation / std::sqrt(3.0), 1e-5);
  EXPECT_FALSE(stability_of(std::span(classes).first(1), labels).interval);
}

}  // namespace
}  // namespace assay::test
