// Probes: what they find, merged training, control tasks and codes.

#include <gmock/gmock.h>

#include "tests/inspection/rows.h"

namespace assay::inspection {
namespace {

// Only one of the hypotheses.
Rows only(const Rows& rows, std::size_t hypothesis) {
  Rows some = rows;
  some.hypotheses = {rows.hypotheses[hypothesis]};
  some.y.clear();
  for (std::size_t i = hypothesis; i < rows.y.size(); i += rows.hypotheses.size())
    some.y.push_back(rows.y[i]);
  return some;
}

// Hypotheses: h0 says that unit 0 is above 0, h1 that unit 1 + unit 2 is, h2 nothing, h3 the third of unit 3.
Rows planted(std::size_t records, std::uint64_t seed) {
  Rows rows;
  rows.units = 8;
  rows.hypotheses = {{"one", BehaviourKind::binary},
                     {"two", BehaviourKind::binary},
                     {"noise", BehaviourKind::binary},
                     {"third", BehaviourKind::categorical, {"low", "middle", "high"}}};
  Rng rng(seed);
  for (std::size_t r = 0; r < records * record_rows; ++r) {
    rows.records.push_back(static_cast<std::uint32_t>(r / record_rows));
    rows.symbols.push_back(static_cast<std::uint32_t>(rng.below(12)));
    std::vector<float> x;
    for (std::size_t u = 0; u < rows.units; ++u) x.push_back(static_cast<float>(rng.normal()));
    rows.x.insert(rows.x.end(), x.begin(), x.end());
    rows.y.insert(rows.y.end(), {static_cast<float>(x[0] > 0), static_cast<float>(x[1] + x[2] > 0),
                                 static_cast<float>(rng.below(2)),
                                 x[3] < -0.4F  ? 0.0F
                                 : x[3] < 0.4F ? 1.0F
                                               : 2.0F});
  }
  return rows;
}

TEST(Logistic, FindsThePlantedUnitsAndLeavesTheRestAtZero) {
  const Rows rows = planted(600, 1);
  const Scores scores = scores_of("logistic_l1[penalty=0.02]", rows);
  EXPECT_GT(scores.groups[0].value, 0.97);
  EXPECT_GT(scores.groups[1].value, 0.95);
  EXPECT_LT(scores.groups[2].value, 0.7);
  const auto weight = [&](std::size_t u, std::size_t h) { return scores.units[u * 4 + h].value; };
  for (std::size_t u = 3; u < rows.units; ++u) {
    EXPECT_LT(weight(u, 0), 0.1 * weight(0, 0));
    EXPECT_LT(weight(u, 1), 0.1 * weight(1, 1));
    EXPECT_LT(weight(u, 1), 0.1 * weight(2, 1));
  }
  EXPECT_LE(scores.groups[0].low, scores.groups[0].value);
  EXPECT_GE(scores.groups[0].high, scores.groups[0].value);
}

TEST(Multiclass, TellsTheClassesApart) {
  const Scores scores = scores_of("multiclass", planted(600, 1));
  EXPECT_GT(scores.groups[3].value, 0.9);
  for (std::size_t u = 0; u < 8; ++u) {
    if (u == 3) continue;
    EXPECT_LT(scores.units[u * 4 + 3].value, 0.5 * scores.units[3 * 4 + 3].value);
  }
  EXPECT_GT(scores_of("multiclass[score=f1]", planted(600, 1)).groups[3].value, 0.9);
}

class MergedTraining : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Probes, MergedTraining,
                         testing::Values("logistic_l1", "logistic_l2", "multiclass", "mdl"),
                         [](const auto& test) { return test.param; });

TEST_P(MergedTraining, EqualsTrainingOneByOne) {
  const Rows rows = drawn_rows(500, 4);
  const Scores merged = scores_of(GetParam(), rows);
  for (std::size_t h = 0; h < rows.hypotheses.size(); ++h) {
    const Scores alone = scores_of(GetParam(), only(rows, h));
    SCOPED_TRACE(h);
    EXPECT_EQ(merged.groups[h].status, alone.groups[0].status);
    if (!merged.groups[h].status.empty()) continue;
    EXPECT_NEAR(merged.groups[h].value, alone.groups[0].value, 2e-3);
    for (std::size_t u = 0; u < alone.units.size(); ++u)
      EXPECT_NEAR(merged.units[u * rows.hypotheses.size() + h].value, alone.units[u].value, 1e-3);
  }
}

TEST(Baselines, ScoreWhatFrequencyAloneDoes) {
  Rows rows = planted(500, 3);
  for (std::size_t i = 0; i < rows.y.size(); i += 4) rows.y[i] = i % 16 == 0 ? 0 : 1;  // three of four
  const double majority = scores_of("majority[score=accuracy]", rows).groups[0].value;
  EXPECT_NEAR(majority, 0.75, 0.02);
  EXPECT_NEAR(scores_of("majority", rows).groups[0].value, 2 * majority / (1 + majority), 1e-9);
  EXPECT_NEAR(scores_of("random[score=accuracy]", rows).groups[0].value, 0.625, 0.02);
  EXPECT_NEAR(scores_of("random", rows).groups[0].value, 0.75, 0.02);
  // Nothing is ever named positive.
  for (std::size_t i = 0; i < rows.y.size(); i += 4) rows.y[i] = i % 16 == 0 ? 1 : 0;
  const Score none = scores_of("majority", rows).groups[0];
  EXPECT_EQ(none.value, 0);
  EXPECT_EQ(none.status, "no_predicted_positives");
}

TEST(Linear, SolvesAPlantedMap) {
  Rows rows = planted(300, 5);
  rows.hypotheses = {{"map", BehaviourKind::numeric}};
  rows.y.clear();
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows.y.push_back(3 * rows.x[r * 8 + 2] - rows.x[r * 8 + 5] + 10);
  const Scores scores = scores_of("linear", rows);
  EXPECT_NEAR(scores.groups[0].value, 1, 1e-6);
  const std::vector<double> column = rows.unit(2), other = rows.unit(5);
  EXPECT_NEAR(scores.units[2].value / scores.units[5].value, 3, 0.2);
  EXPECT_LT(scores.units[0].value, 1e-5);
}

TEST(Linear, DropsRowsOfDontCareHypotheses) {
  Rows rows = planted(300, 6);
  rows.hypotheses = {{"map", BehaviourKind::numeric}, {"some", BehaviourKind::numeric}};
  rows.y.clear();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const float value = rows.x[r * 8 + 1] + 0.5F * rows.x[r * 8 + 2];
    rows.y.insert(rows.y.end(), {value, r % 5 == 0 ? dont_care : value});
  }
  const Scores scores = scores_of("linear", rows);
  EXPECT_NEAR(scores.groups[1].value, 1, 1e-6);
  EXPECT_LT(scores.groups[1].rows, scores.groups[0].rows);
}

TEST(Selectivity, IsHighForWhatUnitsKnowAndLowForWhatSymbolsTell) {
  Rows rows = planted(600, 7);
  // Units 4 to 7 are a code of the symbol; hypothesis 2 follows from it, and any other labels would as well.
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t u = 4; u < 8; ++u)
      rows.x[r * 8 + u] = static_cast<float>(Rng(1, {rows.symbols[r], u}).normal());
    rows.y[r * 4 + 2] = rows.symbols[r] % 2 == 0 ? 1 : 0;
  }
  const Scores scores = scores_of("selectivity", rows);
  EXPECT_GT(scores.groups[0].value, 0.1);
  EXPECT_LT(scores.groups[2].value, scores.groups[0].value);
  rows.symbols.clear();
  Measured state("selectivity", planted(60, 7));
  Block block = rows.block();
  state->observe(block);
  EXPECT_EQ(state->result().groups[0].status, "no_symbols");
}

TEST(DescriptionLength, IsTheUniformCodeForNoise) {
  const Scores scores = scores_of("mdl", planted(1000, 8));
  EXPECT_GT(scores.groups[0].value, 2.5);
  EXPECT_NEAR(scores.groups[2].value, 1, 0.15);
  EXPECT_GT(scores.groups[3].value, 1.5);
  // The first 64 rows are coded uniformly: 64 rows are 64 bits.
  EXPECT_NEAR(scores_of("mdl", planted(10, 8)).groups[0].value, 1, 1e-6);
}

}  // namespace
}  // namespace assay::inspection
