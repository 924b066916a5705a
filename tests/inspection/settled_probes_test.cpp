// Probes beside the optimum of their loss, and scores that have converged beside those of all rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "assay/inspection/statistics/held_out.h"
#include "tests/inspection/rows.h"

namespace assay::inspection {
namespace {

constexpr std::size_t units = 5;

// One row a record; hypothesis h is 1 with probability 1 / (1 + exp(-(w x + biases[h]))).
Rows logistic_rows(std::size_t count, const std::vector<double>& biases, double strength,
                   std::uint64_t seed) {
  Rows rows;
  rows.units = units;
  Rng rng(seed);
  std::vector<double> weights;
  for (std::size_t h = 0; h < biases.size(); ++h) {
    rows.hypotheses.push_back({"h" + std::to_string(h), BehaviourKind::binary});
    for (std::size_t u = 0; u < units; ++u) weights.push_back(strength * rng.normal());
  }
  for (std::size_t r = 0; r < count; ++r) {
    rows.records.push_back(static_cast<std::uint32_t>(r));
    rows.symbols.push_back(0);
    for (std::size_t u = 0; u < units; ++u) rows.x.push_back(static_cast<float>(rng.normal()));
    for (std::size_t h = 0; h < biases.size(); ++h) {
      double margin = biases[h];
      for (std::size_t u = 0; u < units; ++u) margin += weights[h * units + u] * rows.x[r * units + u];
      rows.y.push_back(rng.uniform() < 1 / (1 + std::exp(-margin)) ? 1.0F : 0.0F);
    }
  }
  return rows;
}

// Gaussian elimination.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = i + 1; k < n; ++k) {
      const double factor = a[k][i] / a[i][i];
      for (std::size_t j = i; j < n; ++j) a[k][j] -= factor * a[i][j];
      b[k] -= factor * b[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return b;
}

// The minimum of the mean loss of the learned rows plus l2 w^2 / 2, by Newton's method; the bias comes last.
std::vector<double> optimum(const Rows& rows, double l2, const std::vector<char>& held_out) {
  std::vector<double> w(units + 1);
  for (int iteration = 0; iteration < 25; ++iteration) {
    std::vector<std::vector<double>> hessian(units + 1, std::vector<double>(units + 1));
    std::vector<double> gradient(units + 1);
    double n = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (held_out[r] != 0) continue;
      std::vector<double> x(rows.x.begin() + static_cast<std::ptrdiff_t>(r * units),
                            rows.x.begin() + static_cast<std::ptrdiff_t>((r + 1) * units));
      x.push_back(1);
      double margin = 0;
      for (std::size_t i = 0; i <= units; ++i) margin += w[i] * x[i];
      const double p = 1 / (1 + std::exp(-margin));
      for (std::size_t i = 0; i <= units; ++i) {
        gradient[i] += (p - rows.y[r]) * x[i];
        for (std::size_t j = 0; j <= units; ++j) hessian[i][j] += p * (1 - p) * x[i] * x[j];
      }
      ++n;
    }
    for (std::size_t i = 0; i < units; ++i) gradient[i] += n * l2 * w[i], hessian[i][i] += n * l2;
    const std::vector<double> step = solved(hessian, gradient);
    for (std::size_t i = 0; i <= units; ++i) w[i] -= step[i];
  }
  return w;
}

double f1_of(const Rows& rows, const std::vector<double>& w, const std::vector<char>& held_out) {
  double hits = 0, misses = 0, judged = 0;
  for (std::size_t r = 0; r < rows.size() && judged < 8192; ++r) {
    if (held_out[r] == 0) continue;
    ++judged;
    double margin = w[units];
    for (std::size_t u = 0; u < units; ++u) margin += w[u] * rows.x[r * units + u];
    const bool named = margin > 0, truth = rows.y[r] > 0;
    hits += named && truth ? 1 : 0;
    misses += named != truth ? 1 : 0;
  }
  return 2 * hits / (2 * hits + misses);
}

// 2 of 100 rows are positive, and one pass goes over the rows.
TEST(Probes, RareHypothesesComeNearTheOptimumInOnePass) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Rows rows = logistic_rows(50000, {-7}, 1.5, seed);
    std::vector<char> held_out;
    for (const std::uint32_t record : rows.records) held_out.push_back(is_held_out(1, record, 0.2) ? 1 : 0);
    const std::vector<double> best = optimum(rows, 0.001, held_out);
    const Scores scores = scores_of("logistic_l2", rows);
    EXPECT_NEAR(scores.groups[0].value, f1_of(rows, best, held_out), 0.03) << seed;
    for (std::size_t u = 0; u < units; ++u)
      EXPECT_NEAR(scores.units[u].value, std::fabs(best[u]), 0.05 + 0.1 * std::fabs(best[u])) << seed;
  }
}

// Scores where settle() freezes them beside those of all rows; how many of them there are.
struct Stopped {
  std::size_t count = 0, outside = 0;
  double furthest = 0;
};

Stopped stopped_beside_all(const std::string& measure, const Rows& rows) {
  constexpr std::size_t block = 2048;
  const Measured whole(measure, rows), stopped(measure, rows);
  std::vector<char> open(rows.hypotheses.size(), 1);
  for (std::size_t begin = 0; begin < rows.size(); begin += block) {
    const Rows some = rows.between(begin, std::min(rows.size(), begin + block));
    whole->observe(some.block());
    stopped->observe(some.block());
    if (begin + block < rows.size()) open = stopped->settle();
  }
  const Scores of_all = whole->result(), of_some = stopped->result();
  Stopped found;
  for (std::size_t h = 0; h < open.size(); ++h) {
    if (open[h] != 0) continue;
    ++found.count;
    EXPECT_TRUE(of_some.groups[h].converged);
    const double off = std::fabs(of_some.groups[h].value - of_all.groups[h].value);
    found.outside += off > 0.01 ? 1 : 0;
    found.furthest = std::max(found.furthest, off);
  }
  return found;
}

TEST(Probes, ScoresThatHaveConvergedAreThoseOfAllRows) {
  const std::vector<double> biases{-6, -4, -2, 0, 2};
  for (const char* measure : {"logistic_l1", "logistic_l2", "multiclass", "mdl"}) {
    Stopped all;
    for (const auto& [strength, seed] : {std::pair{0.5, 1U}, {1.2, 2U}}) {
      const Stopped one = stopped_beside_all(measure, logistic_rows(60000, biases, strength, seed));
      all.count += one.count, all.outside += one.outside;
      all.furthest = std::max(all.furthest, one.furthest);
    }
    RecordProperty(std::string(measure) + "_stopped", static_cast<int>(all.count));
    EXPECT_LE(10 * all.outside, all.count) << measure << " " << all.outside << " of " << all.count;
    EXPECT_LE(all.furthest, 0.02) << measure;
    if (std::string(measure) != "mdl") {
      EXPECT_GE(all.count, 2U) << measure;
    }
  }
}

TEST(Probes, NothingSettlesOnFewRowsOfAClass) {
  Rows rows = logistic_rows(60000, {0}, 0.5, 4);
  for (std::size_t r = 0; r < rows.size(); ++r) rows.y[r] = r % 4000 == 3 ? 1.0F : 0.0F;  // 15 of them
  for (const char* measure : {"logistic_l1", "multiclass", "mdl"}) {
    const Measured state(measure, rows);
    for (std::size_t begin = 0; begin < rows.size(); begin += 4096) {
      const Rows some = rows.between(begin, std::min(rows.size(), begin + 4096));
      state->observe(some.block());
      EXPECT_EQ(state->settle(), std::vector<char>{1}) << measure << " " << begin;
    }
    EXPECT_FALSE(state->result().groups[0].converged) << measure;
  }
}

}  // namespace
}  // namespace assay::inspection
