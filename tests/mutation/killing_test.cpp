// Statistics of killing: against worked values, plain second writings and simulated error rates.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/statistical_killing.h>
#include "assay/mutation/killing/boundary.h"
#include "assay/mutation/killing/comparison.h"
#include "assay/mutation/killing/sequential.h"
#include "assay/support/numbers/distributions.h"

namespace assay::mutation {
namespace {

using Sample = std::vector<double>;

const Sample originals{.99, .98, .985, .99}, mutants{.97, .975, .96, .98};

// By Simpson's rule over the density of Student's t.
double plain_student_two_sided(double t, double degrees) {
  const double front = std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2)) /
                       std::sqrt(degrees * std::numbers::pi);
  const int steps = 20'000;
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double x = std::fabs(t) * i / steps, weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(1 + x * x / degrees, -(degrees + 1) / 2);
  }
  return 1 - 2 * front * sum * std::fabs(t) / steps / 3;
}

TEST(KillingComparison, GivesDeepCrimesValues) {
  EXPECT_NEAR(cohens_d(originals, mutants), 2.167, 5e-4);
  EXPECT_NEAR(p_of(KillTest::glm, originals, mutants), 0.0022, 5e-5);
  EXPECT_NEAR(p_of(KillTest::glm, originals, mutants), normal_two_sided(3.065), 1e-5);
  EXPECT_NEAR(p_of(KillTest::t, originals, mutants), plain_student_two_sided(3.0650, 6), 3e-5);
}

TEST(KillingComparison, SamplesWithoutSpreadDifferOrDoNot) {
  const Sample a{0.5, 0.5, 0.5}, b{0.25, 0.25, 0.25};
  for (const KillTest test : {KillTest::glm, KillTest::t, KillTest::quasi_binomial, KillTest::wilcoxon}) {
    EXPECT_EQ(p_of(test, a, b, 100), 0);
    EXPECT_EQ(p_of(test, a, a, 100), 1);
  }
  EXPECT_TRUE(std::isinf(cohens_d(a, b)) && cohens_d(a, b) > 0);
  EXPECT_LT(cohens_d(b, a), 0);
  EXPECT_EQ(cohens_d(a, a), 0);
  EXPECT_EQ(cohens_d(Sample{0.1, 0.1, 0.1}, Sample{0.1, 0.1, 0.1}), 0);  // means round
}

// Over all ways to choose which values are a's.
double plain_rank_sum_p(const Sample& a, const Sample& b) {
  Sample all = a;
  all.insert(all.end(), b.begin(), b.end());
  const auto u_of = [&](const std::vector<bool>& chosen) {
    double u = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < all.size(); ++j)
        if (chosen[i] && !chosen[j]) u += all[i] > all[j] ? 1 : 0;
    return u;
  };
  std::vector<bool> chosen(all.size());
  std::fill_n(chosen.begin(), a.size(), true);
  const double middle = static_cast<double>(a.size() * b.size()) / 2, seen = std::fabs(u_of(chosen) - middle);
  double extreme = 0, total = 0;
  std::sort(chosen.begin(), chosen.end());
  do {
    ++total;
    extreme += std::fabs(u_of(chosen) - middle) >= seen - 1e-9 ? 1 : 0;
  } while (std::next_permutation(chosen.begin(), chosen.end()));
  return extreme / total;
}

TEST(KillingComparison, TheRankSumTestIsExactForFewValues) {
  EXPECT_NEAR(p_of(KillTest::wilcoxon, Sample{1, 2, 3, 4, 5}, Sample{6, 7, 8, 9, 10}), 2.0 / 252, 1e-12);
  Rng rng(3);
  for (int trial = 0; trial < 20; ++trial) {
    Sample a(3 + rng.below(3)), b(3 + rng.below(3));
    for (double& x : a) x = rng.normal() + 1;
    for (double& x : b) x = rng.normal();
    EXPECT_NEAR(p_of(KillTest::wilcoxon, a, b), plain_rank_sum_p(a, b), 1e-12);
  }
}

TEST(KillingComparison, TheRankSumTestWithTiesIsTheNormalApproximation) {
  // Ranks of a: 1.5, 3.5, 5; of b: 1.5, 3.5, 6.5, 6.5. U = 10 - 6 = 4, mean 6; ties 6 + 6 + 6.
  const double variance = 3.0 * 4 / 12 * (8 - 18.0 / 42), z = (2 - 0.5) / std::sqrt(variance);
  EXPECT_NEAR(p_of(KillTest::wilcoxon, Sample{1, 2, 3}, Sample{1, 2, 4, 4}), normal_two_sided(z), 1e-12);
}

// Slope, its dispersion and its standard error by Newton's method on the likelihood.
double plain_quasi_binomial(const Sample& a, const Sample& b, double n) {
  double intercept = 0, slope = 0;
  double ii = 0, is = 0, ss = 0;
  for (int round = 0; round < 50; ++round) {
    double gi = 0, gs = 0;
    ii = is = ss = 0;
    const auto add = [&](double share, double x) {
      const double p = 1 / (1 + std::exp(-(intercept + slope * x)));
      gi += n * (share - p), gs += n * (share - p) * x;
      const double w = n * p * (1 - p);
      ii += w, is += w * x, ss += w * x * x;
    };
    for (const double share : a) add(share, 0);
    for (const double share : b) add(share, 1);
    const double det = ii * ss - is * is;
    intercept += (ss * gi - is * gs) / det;
    slope += (ii * gs - is * gi) / det;
  }
  double pearson = 0;
  const auto residual = [&](double share, double x) {
    const double p = 1 / (1 + std::exp(-(intercept + slope * x)));
    pearson += n * (share - p) * (share - p) / (p * (1 - p));
  };
  for (const double share : a) residual(share, 0);
  for (const double share : b) residual(share, 1);
  const double degrees = static_cast<double>(a.size() + b.size() - 2);
  const double error = std::sqrt(pearson / degrees * ii / (ii * ss - is * is));
  return plain_student_two_sided(slope / error, degrees);
}

TEST(KillingComparison, TheLogisticModelIsTheOneFittedByNewton) {
  EXPECT_NEAR(p_of(KillTest::quasi_binomial, originals, mutants, 1000),
              plain_quasi_binomial(originals, mutants, 1000), 1e-8);
  const Sample a{.7, .72, .69, .74, .71}, b{.7, .66, .72, .68, .65};
  EXPECT_NEAR(p_of(KillTest::quasi_binomial, a, b, 200), plain_quasi_binomial(a, b, 200), 1e-8);
}

TEST(KillingComparison, PowerIsThatOfTables) {
  EXPECT_NEAR(power_of(0.5, 128, 0.05), 0.8015, 1e-4);
  EXPECT_NEAR(power_of(0.5, 40, 0.05), 0.3379, 1e-4);
  EXPECT_NEAR(power_of(0.8, 40, 0.05), 0.6934, 1e-4);
  EXPECT_NEAR(power_of(0, 40, 0.05), 0.05, 1e-9);
  EXPECT_EQ(power_of(std::numeric_limits<double>::infinity(), 4, 0.05), 1);
  EXPECT_EQ(runs_for_power(0.5, 0.8, 0.05), 64U);
  EXPECT_EQ(runs_for_power(0.8, 0.8, 0.05), 26U);
  EXPECT_EQ(runs_for_power(1.0, 0.8, 0.05), 17U);
  EXPECT_EQ(runs_for_power(0, 0.8, 0.05), 0U);
}

// Scores that training hardly moves have an enormous d.
TEST(KillingComparison, PowerOfEnormousEffectsIsAProbabilityAndFoundAtOnce) {
  for (const double d : {1e2, 1e3, 1e4, 1e8, 1e300}) {
    EXPECT_LE(power_of(d, 40, 0.05), 1) << d;
    EXPECT_NEAR(power_of(d, 40, 0.05), 1, 1e-9) << d;
    EXPECT_EQ(runs_for_power(d, 0.8, 0.05), 2U) << d;
  }
  EXPECT_NEAR(power_of(1e3, 4, 1e-6), 0.6321207428, 1e-9);  // by SciPy's ncf
}

TEST(KillingComparison, PowerIsTheShareOfSimulatedTestsThatReject) {
  Rng rng(11);
  int rejected = 0;
  const int trials = 1500;
  for (int trial = 0; trial < trials; ++trial) {
    Sample a(10), b(10);
    for (double& x : a) x = rng.normal() + 1.2;
    for (double& x : b) x = rng.normal();
    rejected += p_of(KillTest::t, a, b) < 0.05 ? 1 : 0;
  }
  const double power = power_of(1.2, 20, 0.05);
  EXPECT_NEAR(static_cast<double>(rejected) / trials, power, 4 * std::sqrt(power * (1 - power) / trials));
}

TEST(KillingLooks, HaveTheBoundariesOfTables) {
  const Sample shares{0.2, 0.4, 0.6, 0.8, 1};
  const double obrien[] = {4.8769, 3.3569, 2.6803, 2.2898, 2.0310},
               pocock[] = {2.4380, 2.4268, 2.4101, 2.3966, 2.3859};
  const auto first = nominal_levels(Spending::obrien_fleming, shares, 0.05),
             second = nominal_levels(Spending::pocock, shares, 0.05);
  for (std::size_t look = 0; look < 5; ++look) {
    EXPECT_NEAR(normal_quantile(1 - first[look] / 2), obrien[look], 1e-3) << look;
    EXPECT_NEAR(normal_quantile(1 - second[look] / 2), pocock[look], 1e-3) << look;
  }
  EXPECT_NEAR(nominal_levels(Spending::pocock, Sample{1}, 0.05)[0], 0.05, 1e-8);
}

TEST(KillingLooks, SpendAlphaAndNoMore) {
  const Sample shares{0.25, 0.5, 1};
  for (const Spending spending : {Spending::obrien_fleming, Spending::pocock}) {
    const auto levels = nominal_levels(spending, shares, 0.05);
    Rng rng(5);
    const int trials = 40'000;
    int rejected = 0;
    for (int trial = 0; trial < trials; ++trial) {
      double score = 0, before = 0;
      for (std::size_t look = 0; look < shares.size(); ++look) {
        score += std::sqrt(shares[look] - before) * rng.normal();
        before = shares[look];
        if (normal_two_sided(score / std::sqrt(before)) < levels[look]) {
          ++rejected;
          break;
        }
      }
    }
    EXPECT_NEAR(rejected / static_cast<double>(trials), 0.05, 4 * std::sqrt(0.05 * 0.95 / trials));
  }
}

// How often a mutant without effect has p below a level at some look, and how often it counts as killed.
TEST(KillingLooks, KeepTheErrorRateOverTrainings) {
  const KillDesign design{.test = KillTest::t};
  const auto levels = levels_of(design);
  Rng rng(9);
  const int trials = 1500;
  int below = 0, killed = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Sample a(20), b(20);
    for (double& x : a) x = rng.normal();
    for (double& x : b) x = rng.normal();
    bool any = false, harmed = false;
    for (std::size_t look = 0; look < 3; ++look) {
      const auto first = [&](const Sample& all) { return std::span(all).first(design.looks[look]); };
      const bool sure = p_of(KillTest::t, first(a), first(b)) < levels[look];
      any = any || sure;
      harmed = harmed || (sure && cohens_d(first(a), first(b)) >= design.effect);
    }
    below += any ? 1 : 0;
    killed += harmed ? 1 : 0;
  }
  const double noise = 4 * std::sqrt(0.05 * 0.95 / trials);
  EXPECT_LT(below / static_cast<double>(trials), 0.05 + noise);
  EXPECT_LT(killed / static_cast<double>(trials), 0.025 + noise);  // only harm kills
  EXPECT_GT(below, 0);
}

TEST(KillingVerdicts, AreOpenUntilTheLastLook) {
  KillDesign design;
  design.looks = {4, 8};
  design.spending = Spending::none;
  const auto levels = levels_of(design);
  EXPECT_EQ(levels, (std::vector<double>{0.05, 0.05}));
  const KillVerdict killed = judge(design, levels, 0, originals, mutants, 0);
  EXPECT_EQ(killed.status, KillStatus::killed);
  EXPECT_EQ(killed.runs, 4U);
  EXPECT_NEAR(killed.original, 0.98625, 1e-12);
  EXPECT_EQ(judge(design, levels, 0, mutants, originals, 0).status, KillStatus::survived);
  const Sample noisy{.9, .99, .93, .97, .9, .99, .93, .97}, alike{.9, .98, .92, .98, .9, .98, .92, .98};
  EXPECT_EQ(judge(design, levels, 0, noisy, alike, 0).status, KillStatus::open);
  const KillVerdict last = judge(design, levels, 1, noisy, alike, 0);
  EXPECT_EQ(last.status, KillStatus::too_few_runs);
  EXPECT_EQ(last.runs_needed, 64U);
  EXPECT_FALSE(is_stable(last, 0.8));
  design.higher_is_better = false;
  EXPECT_EQ(judge(design, levels, 0, mutants, originals, 0).status, KillStatus::killed);
}

TEST(KillingVerdicts, DesignsThatAreNoneAreRefused) {
  const auto refused = [](auto change) {
    KillDesign design;
    change(design);
    EXPECT_THROW(check_design(design), Error);
  };
  EXPECT_NO_THROW(check_design({}));
  refused([](KillDesign& d) { d.looks = {}; });
  refused([](KillDesign& d) { d.looks = {1, 5}; });
  refused([](KillDesign& d) { d.looks = {5, 5}; });
  refused([](KillDesign& d) { d.looks = {10, 5}; });
  refused([](KillDesign& d) { d.alpha = 0; });
  refused([](KillDesign& d) { d.effect = -1; });
  EXPECT_THROW(kill_test_named("anova"), Error);
  EXPECT_THROW(spending_named("all"), Error);
}

TEST(KillingBoundary, IsTheMildestStepThatIsKilled) {
  for (const OptionRange range :
       {OptionRange{0, 1, 0.05}, OptionRange{12, 1, 1}, OptionRange{1, 0.001, 0.01}}) {
    const double sign = range.extreme > range.mildest ? 1 : -1;
    const int steps = static_cast<int>(std::fabs(range.extreme - range.mildest) / range.step + 1e-9);
    for (int killed_from = 1; killed_from <= steps; ++killed_from) {
      BoundarySearch search(range);
      const auto killed = [&](double value) {
        return std::fabs(value - range.mildest) > (killed_from - 0.5) * range.step;
      };
      while (search.next()) search.tell(killed(*search.next()));
      ASSERT_TRUE(search.boundary());
      EXPECT_NEAR(*search.boundary(), range.mildest + sign * killed_from * range.step, range.step + 1e-9);
      EXPECT_TRUE(killed(*search.boundary()));
      EXPECT_FALSE(killed(search.unkilled()));
      EXPECT_LE(search.tried(), 3 + static_cast<std::size_t>(std::ceil(std::log2(steps))));
    }
    BoundarySearch none(range);
    while (none.next()) none.tell(false);
    EXPECT_FALSE(none.boundary());
    EXPECT_EQ(none.tried(), 1U);
  }
}

KillVerdict verdict(KillStatus status, double power = 1) {
  KillVerdict made;
  made.status = status;
  made.power = power;
  return made;
}

TEST(DeepCrimesScore, OfAnOperatorSoughtOverARange) {
  EXPECT_NEAR(*range_score(100, 20, 60), 0.5, 1e-12);
  EXPECT_NEAR(*range_score(1, 9, 5), 0.5, 1e-12);  // epochs: fewer are worse
  EXPECT_EQ(range_score(100, 20, 20), 1);
  EXPECT_EQ(range_score(100, 20, 10), 1);  // capped
  EXPECT_EQ(range_score(100, 20, std::nullopt), 0);
  EXPECT_EQ(range_score(100, std::nullopt, 60), std::nullopt);
  EXPECT_EQ(range_score(100, 100, std::nullopt), std::nullopt);
  EXPECT_EQ(range_score(100, 100, 100), std::nullopt);
}

TEST(DeepCrimesScore, OfAnOperatorWhoseMutantsAreAllTried) {
  const auto K = KillStatus::killed, S = KillStatus::survived;
  const std::vector<KillVerdict> training{verdict(K), verdict(K), verdict(K, 0.5), verdict(S), verdict(K)},
      test{verdict(K), verdict(S), verdict(K), verdict(K), verdict(K)};
  EXPECT_NEAR(*exhaustive_score(training, test, 0.8), 2.0 / 3, 1e-12);
  EXPECT_EQ(exhaustive_score(std::vector<KillVerdict>{verdict(S)}, std::vector<KillVerdict>{verdict(K)}, 0.8),
            std::nullopt);
}

TEST(DeepCrimesScore, IsTheMeanOverStableOperators) {
  const auto of = [](std::optional<double> score, std::size_t unstable) {
    OperatorKilling made;
    made.score = score;
    made.unstable = unstable;
    return made;
  };
  EXPECT_EQ(overall_score(std::vector{of(1, 0), of(0.5, 0), of(0, 2), of(std::nullopt, 0)}), 0.75);
  EXPECT_EQ(overall_score(std::vector{of(1, 1)}), std::nullopt);
}

TEST(RedundantMutants, AreKilledWheneverAnotherIs) {
  const std::vector<std::vector<bool>> kills{{true, false, false},
                                             {true, true, false},
                                             {true, true, false},
                                             {false, false, false},
                                             {false, false, true}};
  EXPECT_EQ(redundant(kills), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(redundant({{true}, {true}}), (std::vector<std::size_t>{1}));
  EXPECT_TRUE(redundant({}).empty());
}

}  // namespace
}  // namespace assay::mutation
