// p values by permutation, intervals by bootstrap, false discovery rates; intervals under early stopping.

#include "assay/inspection/statistics/resampling.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <assay/error.h>
#include "assay/support/numbers/discoveries.h"
#include "tests/inspection/rows.h"

namespace assay::inspection {
namespace {

Scores resampled(const std::string& measure, const Rows& rows, const Resampling& resampling,
                 std::size_t block = 240) {
  const Measured plain(measure, rows);
  const auto state = make_state(plain.info(), plain.setup(), resampling);
  state->calibrate(rows.block());
  for (std::size_t begin = 0; begin < rows.size(); begin += block)
    state->observe(rows.between(begin, std::min(begin + block, rows.size())).block());
  return state->result();
}

TEST(Permutation, GivesSmallPToAffinityAndAnyToNoise) {
  const Rows rows = drawn_rows(120, 2);
  const Scores scores = resampled("pearson", rows, {.permutations = 99});
  const std::size_t width = rows.hypotheses.size();
  EXPECT_DOUBLE_EQ(scores.units[0].p, 0.01);
  EXPECT_DOUBLE_EQ(scores.units[5 * width].p, 0.01);  // the opposite is affinity, too
  EXPECT_GT(scores.units[2 * width].p, 0.02);
  EXPECT_TRUE(std::isnan(scores.units[4].p));
  // The scores are those without permutations.
  EXPECT_NEAR(scores.units[1].value, scores_of("pearson", rows).units[1].value, 1e-12);
}

TEST(Permutation, IsUniformUnderIndependence) {
  Rows rows;
  rows.units = 40;
  rows.hypotheses = {{"h", BehaviourKind::numeric}};
  Rng rng(5);
  for (std::size_t r = 0; r < 60; ++r) {
    // Rows of a record are equal: as if there were a sixth of them.
    const auto h = static_cast<float>(rng.normal());
    std::vector<float> x;
    for (std::size_t u = 0; u < rows.units; ++u) x.push_back(static_cast<float>(rng.normal()));
    for (std::size_t i = 0; i < record_rows; ++i) {
      rows.records.push_back(static_cast<std::uint32_t>(r));
      rows.symbols.push_back(0);
      rows.x.insert(rows.x.end(), x.begin(), x.end());
      rows.y.push_back(h);
    }
  }
  const Scores permuted = resampled("pearson", rows, {.permutations = 99}, 360),
               analytic = scores_of("pearson", rows);
  const auto below = [](const Scores& scores) {
    return std::ranges::count_if(scores.units, [](const Score& score) { return score.p <= 0.1; });
  };
  EXPECT_LE(below(permuted), 9);   // 4 are expected
  EXPECT_GE(below(analytic), 12);  // rows are not independent
}

TEST(Permutation, IsSavedAndMergedWithItsState) {
  const Rows rows = drawn_rows(80, 2);
  const Measured plain("auc", rows);
  const auto fresh = [&] {
    auto state = make_state(plain.info(), plain.setup(), {.permutations = 9, .bootstrap = 20});
    state->calibrate(rows.block());
    return state;
  };
  const auto whole = fresh(), left = fresh(), right = fresh(), loaded = fresh();
  whole->observe(rows.between(0, 240).block());
  whole->observe(rows.between(240, 480).block());
  left->observe(rows.between(0, 240).block());
  right->observe(rows.between(240, 480).block());
  loaded->load(nlohmann::json::parse(left->save().dump()));
  loaded->merge(*right);
  const Scores one = whole->result(), other = loaded->result();
  for (std::size_t i = 0; i < one.units.size(); ++i) {
    if (std::isnan(one.units[i].value)) continue;
    EXPECT_NEAR(one.units[i].value, other.units[i].value, 1e-12);
    EXPECT_EQ(one.units[i].p, other.units[i].p);
    EXPECT_NEAR(one.units[i].low, other.units[i].low, 1e-12);
  }
}

TEST(Bootstrap, IsAsWideAsTheIntervalOfIndependentRows) {
  Rows rows = drawn_rows(400, 3);
  for (std::size_t r = 0; r < rows.size(); ++r) rows.records[r] = static_cast<std::uint32_t>(r);
  const Score plain = scores_of("pearson", rows).units[0],
              drawn = resampled("pearson", rows, {.bootstrap = 300}).units[0];
  EXPECT_NEAR(plain.value, drawn.value, 1e-12);
  EXPECT_LT(drawn.low, drawn.value);
  EXPECT_GT(drawn.high, drawn.value);
  EXPECT_NEAR((drawn.high - drawn.low) / (plain.high - plain.low), 1, 0.4);
}

TEST(Bootstrap, IsRefusedWhereStatesDoNotMerge) {
  const Measured plain("logistic_l1", drawn_rows(10, 1));
  EXPECT_THROW(make_state(plain.info(), plain.setup(), {.bootstrap = 10}), Error);
}

TEST(FalseDiscoveryRate, OfFiveTests) {
  // p times 5 / rank: 0.05, 0.05, 0.0667, 0.0625, 0.6; the fourth lowers the third.
  const std::vector<double> p{0.02, 0.6, std::numeric_limits<double>::quiet_NaN(), 0.01, 0.05, 0.04};
  const std::vector<double> q = benjamini_hochberg(p);
  EXPECT_NEAR(q[0], 0.05, 1e-12);
  EXPECT_NEAR(q[1], 0.6, 1e-12);
  EXPECT_TRUE(std::isnan(q[2]));
  EXPECT_NEAR(q[3], 0.05, 1e-12);
  EXPECT_NEAR(q[4], 0.0625, 1e-12);
  EXPECT_NEAR(q[5], 0.0625, 1e-12);
}

TEST(EarlyStopping, MissesNoAffinityAboutAsOftenAsTheConfidenceSays) {
  // Independent pairs, stopped at the first look with a narrow interval: 0 is in about 95 of 100.
  std::size_t missed = 0;
  constexpr std::size_t runs = 400;
  for (std::size_t run = 0; run < runs; ++run) {
    Rows rows;
    rows.units = 1;
    rows.hypotheses = {{"h", BehaviourKind::binary}};
    Rng rng(11, {run});
    for (std::size_t r = 0; r < 600; ++r) {
      rows.records.push_back(static_cast<std::uint32_t>(r));
      rows.symbols.push_back(0);
      rows.x.push_back(static_cast<float>(rng.normal()));
      rows.y.push_back(static_cast<float>(rng.below(2)));
    }
    const Measured state("pearson", rows, 1, 0.1);
    for (std::size_t begin = 0; begin < rows.size(); begin += 60) {
      state->observe(rows.between(begin, begin + 60).block());
      if (state->settle()[0] == 0) break;
    }
    const Score score = state->result().units[0];
    EXPECT_TRUE(score.converged);
    EXPECT_LT(score.rows, 430U);  // 385 are needed at r = 0
    missed += score.low > 0 || score.high < 0 ? 1 : 0;
  }
  EXPECT_GE(missed, runs * 2 / 100);
  EXPECT_LE(missed, runs * 9 / 100);
}

}  // namespace
}  // namespace assay::inspection
