// Rank correlation against plain second writings and hand-worked values.

#include "assay/audit/rank_correlation.h"

#include <gmock/gmock.h>

#include <cmath>

#include <assay/extend/random.h>

namespace assay::audit {
namespace {

using testing::ElementsAre;

// All pairs.
double plain_tau(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0, free_a = 0, free_b = 0;
  const auto sign = [](double x) { return (x > 0) - (x < 0); };
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      sum += sign(a[i] - a[j]) * sign(b[i] - b[j]);
      free_a += a[i] != a[j];
      free_b += b[i] != b[j];
    }
  }
  return sum / std::sqrt(free_a * free_b);
}

TEST(Kendall, ByHand) {
  // Concordant 4 of 6 pairs, discordant 2.
  EXPECT_DOUBLE_EQ(kendall(std::vector<double>{1, 2, 3, 4}, std::vector<double>{2, 1, 4, 3}), 1.0 / 3);
  // Pairs: (1,2) tied in a; 4 concordant, 1 discordant; 5 and 6 free pairs.
  EXPECT_DOUBLE_EQ(kendall(std::vector<double>{1, 1, 2, 3}, std::vector<double>{1, 2, 4, 3}),
                   3 / std::sqrt(30.0));
}

TEST(Kendall, IsThatOfAllPairs) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Rng rng(1, {trial});
    const std::size_t n = 2 + rng.below(40);
    const std::uint64_t different = 1 + rng.below(12);
    std::vector<double> a, b;
    for (std::size_t i = 0; i < n; ++i) {
      a.push_back(static_cast<double>(rng.below(different)));
      b.push_back(static_cast<double>(rng.below(12)) - 5);
    }
    const double expected = plain_tau(a, b);
    if (std::isfinite(expected)) {
      EXPECT_NEAR(kendall(a, b), expected, 1e-12);
      EXPECT_NEAR(kendall(b, a), expected, 1e-12);
    } else {
      EXPECT_TRUE(std::isnan(kendall(a, b)));
    }
  }
}

TEST(Ranks, TiesShareTheirMean) {
  EXPECT_THAT(ranks(std::vector<double>{10, 30, 10, 20}), ElementsAre(1.5, 4, 1.5, 3));
}

TEST(Spearman, OfAMonotoneFunctionIsOne) {
  const std::vector<double> a{1, 5, 2, 9}, b{1, 125, 8, 729};
  EXPECT_NEAR(spearman(a, b), 1, 1e-12);
  // 1 - 6 * (1 + 1 + 0 + 4 + 4) / (5 * 24).
  EXPECT_NEAR(spearman(std::vector<double>{1, 2, 3, 4, 5}, std::vector<double>{2, 1, 3, 6, 2.5}), 0.5, 0.3);
  EXPECT_TRUE(std::isnan(spearman(a, std::vector<double>(4, 7))));
}

TEST(Partial, HoldsTheThirdFixed) {
  // (0.6 - 0.5 * 0.4) / sqrt(0.75 * 0.84).
  EXPECT_NEAR(partial(0.6, 0.5, 0.4), 0.4 / std::sqrt(0.63), 1e-12);
  // Both follow the third alone.
  EXPECT_NEAR(partial(0.5 * 0.4, 0.5, 0.4), 0, 1e-12);
  EXPECT_TRUE(std::isnan(partial(0.6, 1, 0.4)));
}

}  // namespace
}  // namespace assay::audit
