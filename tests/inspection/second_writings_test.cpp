// Each measure against its formula written out plainly, over whole columns, and against values by hand.

#include <gmock/gmock.h>

#include <algorithm>
#include <numbers>

#include "tests/inspection/rows.h"

namespace assay::inspection {
namespace {

using Column = std::vector<double>;
constexpr double z95 = 1.959963984540054;

// Rows where the hypothesis cares.
void drop(Column& x, Column& y) {
  Column kept_x, kept_y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i])) continue;
    kept_x.push_back(x[i]);
    kept_y.push_back(y[i]);
  }
  x = kept_x;
  y = kept_y;
}
double mean(const Column& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}
double covariance(const Column& a, const Column& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean(a)) * (b[i] - mean(b));
  return sum / static_cast<double>(a.size() - 1);
}
double plain_pearson(const Column& x, const Column& y) {
  return covariance(x, y) / std::sqrt(covariance(x, x) * covariance(y, y));
}
Column ranks(const Column& v) {
  Column all;
  for (const double one : v) {
    const auto below = std::ranges::count_if(v, [&](double other) { return other < one; }),
               equal = std::ranges::count(v, one);
    all.push_back(static_cast<double>(below) + (static_cast<double>(equal) + 1) / 2);
  }
  return all;
}
Column where(const Column& x, const Column& y, bool holds) {
  Column some;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if ((y[i] > 0.5) == holds) some.push_back(x[i]);
  }
  return some;
}

// Calls `same` for every pair that has a value, with its columns.
template <typename Same>
void for_pairs(const std::string& measure, const Rows& rows, const Same& same) {
  const Scores scores = scores_of(measure, rows);
  std::size_t compared = 0;
  for (std::size_t u = 0; u < rows.units; ++u) {
    for (std::size_t h = 0; h < rows.hypotheses.size(); ++h) {
      const Score& score = scores.units[u * rows.hypotheses.size() + h];
      if (!score.status.empty()) continue;
      Column x = rows.unit(u), y = rows.hypothesis(h);
      drop(x, y);
      EXPECT_EQ(score.rows, x.size());
      SCOPED_TRACE(fmt::format("{} unit {} hypothesis {}", measure, u, h));
      same(score, x, y);
      ++compared;
    }
  }
  EXPECT_GE(compared, 4U);
}

const Rows& some_rows() {
  static const Rows rows = drawn_rows(60, 3);
  return rows;
}

TEST(PlainWriting, OfPearson) {
  for_pairs("pearson", some_rows(), [](const Score& score, const Column& x, const Column& y) {
    const double r = plain_pearson(x, y);
    EXPECT_NEAR(score.value, r, 1e-11);
    if (std::fabs(r) > 0.999999) return;
    const double error = 1 / std::sqrt(static_cast<double>(x.size()) - 3);
    EXPECT_NEAR(score.low, std::tanh(std::atanh(r) - z95 * error), 1e-9);
    EXPECT_NEAR(score.high, std::tanh(std::atanh(r) + z95 * error), 1e-9);
    EXPECT_NEAR(score.p, std::erfc(std::fabs(std::atanh(r)) / error / std::numbers::sqrt2), 1e-9);
  });
}

TEST(PlainWriting, OfSpearman) {
  for_pairs("spearman", drawn_rows(40, 5), [](const Score& score, const Column& x, const Column& y) {
    // Grades are ranks among all rows; where some are dropped, ranks among the rest differ a little.
    EXPECT_NEAR(score.value, plain_pearson(ranks(x), ranks(y)), x.size() == 240 ? 1e-11 : 0.01);
  });
}

TEST(PlainWriting, OfMeanDifferenceAndCohensD) {
  const auto check = [](bool standardised) {
    return [=](const Score& score, const Column& x, const Column& y) {
      const Column with = where(x, y, true), without = where(x, y, false);
      const double n1 = static_cast<double>(with.size()), n0 = static_cast<double>(without.size()),
                   v1 = covariance(with, with), v0 = covariance(without, without),
                   difference = mean(with) - mean(without);
      if (!standardised) {
        EXPECT_NEAR(score.value, difference, 1e-9);
        EXPECT_NEAR(score.high - score.low, 2 * z95 * std::sqrt(v1 / n1 + v0 / n0), 1e-6);
        return;
      }
      const double d = difference / std::sqrt(((n1 - 1) * v1 + (n0 - 1) * v0) / (n1 + n0 - 2));
      EXPECT_NEAR(score.value, d, 1e-8);
      EXPECT_NEAR(score.high - score.low, 2 * z95 * std::sqrt((n1 + n0) / (n1 * n0) + d * d / 2 / (n1 + n0)),
                  1e-6);
    };
  };
  for_pairs("mean_difference", some_rows(), check(false));
  Rows rows = some_rows();
  for_pairs("cohen_d", rows, check(true));
}

TEST(PlainWriting, OfJaccard) {
  for_pairs("jaccard[quantile=0.2]", some_rows(), [](const Score& score, const Column& x, const Column& y) {
    Column all;  // of the unit, wherever the hypothesis cares: thresholds are of all rows
    double both = 0, either = 0;
    for (std::size_t u = 0; u < some_rows().units; ++u) {
      Column other = some_rows().unit(u), truth = some_rows().hypothesis(y.size() == 360 ? 0 : 1);
      drop(other, truth);
      if (other == x) all = some_rows().unit(u);
    }
    std::ranges::sort(all, std::greater<>());
    const double threshold = all[static_cast<std::size_t>(0.2 * static_cast<double>(all.size()) + 1e-9)];
    for (std::size_t i = 0; i < x.size(); ++i) {
      both += x[i] > threshold && y[i] == 1 ? 1 : 0;
      either += x[i] > threshold || y[i] == 1 ? 1 : 0;
    }
    EXPECT_NEAR(score.value, both / either, 1e-12);
  });
}

TEST(PlainWriting, OfMutualInformation) {
  for_pairs("mutual_information[bins=3]", some_rows(),
            [](const Score& score, const Column& x, const Column& y) {
              EXPECT_GE(score.value, 0);
              EXPECT_LE(score.value, std::log(3.0) + 1e-12);
              Column values = x;
              std::ranges::sort(values);
              values.erase(std::unique(values.begin(), values.end()), values.end());
              const Column truths = [&] {
                Column some = y;
                std::ranges::sort(some);
                some.erase(std::unique(some.begin(), some.end()), some.end());
                return some;
              }();
              if (values.size() > 3 || truths.size() > 3) return;  // bins are values
              double information = 0;
              const double n = static_cast<double>(x.size());
              for (const double a : values) {
                for (const double b : truths) {
                  double both = 0, left = 0, right = 0;
                  for (std::size_t i = 0; i < x.size(); ++i) {
                    both += x[i] == a && y[i] == b ? 1 : 0;
                    left += x[i] == a ? 1 : 0;
                    right += y[i] == b ? 1 : 0;
                  }
                  if (both > 0) information += both / n * std::log(both * n / (left * right));
                }
              }
              EXPECT_NEAR(score.value, information, 1e-12);
            });
}

TEST(PlainWriting, OfAuc) {
  for_pairs("auc[bins=256]", some_rows(), [](const Score& score, const Column& x, const Column& y) {
    const Column with = where(x, y, true), without = where(x, y, false);
    double won = 0;
    for (const double a : with) {
      for (const double b : without) won += a > b ? 1 : a == b ? 0.5 : 0;
    }
    // 360 values in 256 bins: some share one.
    EXPECT_NEAR(score.value, won / static_cast<double>(with.size() * without.size()), 0.003);
  });
}

// One unit, one hypothesis, a record a row.
Rows by_hand(const std::vector<float>& x, const std::vector<float>& y,
             BehaviourKind kind = BehaviourKind::binary) {
  Rows rows{1, {{"h", kind}}, {}, {}, x, y};
  rows.records.resize(x.size());
  rows.symbols.resize(x.size());
  std::iota(rows.records.begin(), rows.records.end(), 0U);
  return rows;
}

TEST(ByHand, CorrelationsOfFiveRows) {
  // Deviations (-2, -1, 0, 1, 2) and (-1, -2, 0, 2, 1): r = 8 / 10.
  const Rows rows = by_hand({1, 2, 3, 4, 5}, {2, 1, 3, 5, 4}, BehaviourKind::numeric);
  EXPECT_NEAR(scores_of("corr", rows).units[0].value, 0.8, 1e-15);
  EXPECT_NEAR(scores_of("spearman", rows).units[0].value, 0.8, 1e-15);
}

TEST(ByHand, TwoClassesOfFourAndTwoRows) {
  const Rows rows = by_hand({1, 2, 3, 2, 5, 7}, {0, 0, 0, 0, 1, 1});
  // Means 6 and 2; squares 2 and 2, so that s^2 = 4 / 4.
  EXPECT_NEAR(scores_of("mean_difference", rows).units[0].value, 4, 1e-12);
  EXPECT_NEAR(scores_of("cohen_d", rows).units[0].value, 4, 1e-12);
  EXPECT_EQ(scores_of("auc", rows).units[0].value, 1);
  // T = 3: one more than a third of the rows is 5 and 7.
  EXPECT_EQ(scores_of("jaccard[quantile=0.34]", rows).units[0].value, 1);
  EXPECT_EQ(scores_of("jaccard[quantile=0.17]", rows).units[0].value, 0.5);
}

TEST(ByHand, MutualInformationOfFourRows) {
  // Independent halves tell nothing, equal halves one bit.
  EXPECT_NEAR(scores_of("mi", by_hand({0, 0, 1, 1}, {0, 1, 0, 1})).units[0].value, 0, 1e-15);
  EXPECT_NEAR(scores_of("mi", by_hand({0, 0, 1, 1}, {0, 0, 1, 1})).units[0].value, std::log(2.0), 1e-15);
  // (R - 1)(C - 1) / (2 n) = 1 / 8.
  EXPECT_NEAR(scores_of("mi[correction=miller-madow]", by_hand({0, 0, 1, 1}, {0, 0, 1, 1})).units[0].value,
              std::log(2.0) - 0.125, 1e-15);
}

TEST(ByHand, AHypothesisThatIsTheUnit) {
  const Rows rows = drawn_rows(60, 9);
  const Scores r = scores_of("pearson", rows);
  const std::size_t width = rows.hypotheses.size();
  EXPECT_EQ(r.units[4 * width].value, 1);
  EXPECT_EQ(r.units[5 * width].value, -1);
  EXPECT_EQ(scores_of("auc", rows).units[4 * width].value, 1);
  EXPECT_EQ(scores_of("auc", rows).units[5 * width].value, 0);
  EXPECT_EQ(scores_of("spearman", rows).units[5 * width].value, -1);
  EXPECT_EQ(scores_of("cohen_d", rows).units[4 * width].status, "separated");
  // A third of the rows is 1, so that 0 is the threshold for the upper half.
  EXPECT_EQ(scores_of("jaccard[quantile=0.5]", rows).units[4 * width].value, 1);
  EXPECT_EQ(scores_of("logistic_l1", rows).groups[0].value, 1);
}

// The one row of two hundred where it holds looks like certainty.
TEST(ByHand, ScoresOfFewRowsOfAKindHaveNotConverged) {
  for (const char* measure : {"pearson", "spearman", "auc", "mutual_information", "jaccard[quantile=0.01]"}) {
    for (const auto kind : {BehaviourKind::binary, BehaviourKind::numeric}) {
      if (kind == BehaviourKind::numeric && (measure == std::string("auc") || measure[0] == 'j')) continue;
      for (const std::size_t held : {1U, 5U, 60U}) {
        std::vector<float> x(1000), y(1000);
        for (std::size_t r = 0; r < held; ++r) x[r * 7] = y[r * 7] = 1;
        const Score score = scores_of(measure, by_hand(x, y, kind)).units[0];
        const bool narrow = measure == std::string("pearson") || measure == std::string("spearman");
        EXPECT_EQ(score.converged, held == 60 && narrow) << measure << " " << held;
        if (measure == std::string("auc")) {
          EXPECT_EQ(score.status, held == 1 ? "too_few_rows" : "") << held;
          // 0.025^(1 / held): as many draws, all alike.
          if (held == 5) {
            EXPECT_NEAR(score.low, 0.47818, 1e-4);
          }
        }
      }
    }
  }
}

TEST(ByHand, FewRowsAreNoScore) {
  for (const char* measure : {"pearson", "spearman", "auc", "mutual_information", "mean_difference"})
    EXPECT_EQ(scores_of(measure, by_hand({1, 2, 3}, {0, 1, 0})).units[0].status, "too_few_rows") << measure;
}

}  // namespace
}  // namespace assay::inspection
