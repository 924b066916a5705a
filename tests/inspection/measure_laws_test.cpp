// What holds for every measure of the catalogue.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <assay/error.h>
#include "tests/inspection/rows.h"

namespace assay::inspection {
namespace {

class EveryMeasure : public testing::TestWithParam<std::string> {
 protected:
  const MeasureInfo& info() const { return measures().find(GetParam()); }
  // Of sums in another order. Two units are opposites, for which linear equations multiply rounding.
  double tolerance() const { return GetParam() == "linear" ? 1e-8 : 1e-12; }
};

std::vector<std::string> all_measures() { return measures().names(); }
INSTANTIATE_TEST_SUITE_P(Measures, EveryMeasure, testing::ValuesIn(all_measures()),
                         [](const auto& test) { return test.param; });

// `tolerance` relative to 1 or the value, whatever is greater.
void expect_same(const std::vector<Score>& a, const std::vector<Score>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  const auto near = [&](double one, double other) {
    return (std::isnan(one) && std::isnan(other)) || one == other ||
           std::fabs(one - other) <= tolerance * std::max(1.0, std::fabs(other));
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_PRED2(near, a[i].value, b[i].value) << i;
    EXPECT_PRED2(near, a[i].low, b[i].low) << i;
    EXPECT_PRED2(near, a[i].high, b[i].high) << i;
    EXPECT_PRED2(near, a[i].p, b[i].p) << i;
    EXPECT_EQ(a[i].rows, b[i].rows) << i;
    EXPECT_EQ(a[i].status, b[i].status) << i;
  }
}
void expect_same(const Scores& a, const Scores& b, double tolerance) {
  expect_same(a.units, b.units, tolerance);
  expect_same(a.groups, b.groups, tolerance);
}

// What a state of all of `calibration` says after blocks of these rows, `size` rows each, whole records.
Scores in_blocks(const std::string& measure, const Rows& calibration, const Rows& rows, std::size_t size) {
  const Measured state(measure, calibration);
  for (std::size_t begin = 0; begin < rows.size(); begin += size)
    state->observe(rows.between(begin, std::min(begin + size, rows.size())).block());
  return state->result();
}

TEST(Measures, AreMany) { EXPECT_GE(measures().size(), 14U); }

TEST(Measures, HaveOtherNames) {
  EXPECT_EQ(measure_choice("corr").spec().text(), "pearson");
  EXPECT_EQ(measure_choice("logreg[score=accuracy]").spec().text(), "logistic_l1[score=accuracy]");
  EXPECT_EQ(measure_choice("auc").spec().text(), "auc");
}

TEST_P(EveryMeasure, ExplainsItself) {
  EXPECT_GT(info().summary.size(), 20U);
  EXPECT_GT(info().definition.size(), 80U);
  EXPECT_GT(info().limits.size(), 20U);
  EXPECT_FALSE(info().paper.empty());
  EXPECT_FALSE(info().kinds.empty());
}

TEST_P(EveryMeasure, DoesNotDependOnBlocks) {
  const Rows rows = drawn_rows(300, 1);
  const Scores once = in_blocks(GetParam(), rows, rows, rows.size());
  expect_same(in_blocks(GetParam(), rows, rows, 7 * record_rows), once, tolerance());
  expect_same(in_blocks(GetParam(), rows, rows, 101 * record_rows), once, tolerance());
}

TEST_P(EveryMeasure, ThatMergesDoesNotDependOnOrder) {
  if (!info().merges) return;
  const Rows rows = drawn_rows(120, 1);
  expect_same(in_blocks(GetParam(), rows, rows.shuffled(4), 120), in_blocks(GetParam(), rows, rows, 720),
              tolerance());
}

TEST_P(EveryMeasure, MergesOrSaysThatItCannot) {
  const Rows rows = drawn_rows(120, 2);
  const std::size_t third = rows.size() / 3;
  const auto part = [&](std::size_t i) {
    auto state = std::make_unique<Measured>(GetParam(), rows);
    (*state)->observe(rows.between(i * third, (i + 1) * third).block());
    return state;
  };
  if (!info().merges) {
    EXPECT_THROW((*part(0))->merge(**part(1)), Error);
    return;
  }
  const Scores whole = in_blocks(GetParam(), rows, rows, rows.size());
  // (0 + 1) + 2 and 2 + (1 + 0).
  const auto first = part(0), last = part(2), middle = part(1);
  (*first)->merge(**middle);
  (*first)->merge(**last);
  expect_same((*first)->result(), whole, tolerance());
  (*middle)->merge(**part(0));
  (*last)->merge(**middle);
  expect_same((*last)->result(), whole, tolerance());
}

TEST_P(EveryMeasure, GoesOnFromWhatWasSaved) {
  const Rows rows = drawn_rows(300, 6);
  const std::size_t half = rows.size() / 2;
  const Measured whole(GetParam(), rows), left(GetParam(), rows);
  left->observe(rows.between(0, half).block());
  whole->observe(rows.between(0, half).block());
  // Calibrated with something else, which load() replaces.
  const Measured right(GetParam(), rows.between(0, 12));
  right->load(nlohmann::json::parse(left->save().dump()));
  expect_same(right->result(), left->result(), 0);
  right->observe(rows.between(half, rows.size()).block());
  whole->observe(rows.between(half, rows.size()).block());
  expect_same(right->result(), whole->result(), 0);
}

TEST_P(EveryMeasure, RefusesStatesOfOtherWork) {
  const Measured state(GetParam(), drawn_rows(20, 6));
  Rows fewer = drawn_rows(20, 6);
  fewer.hypotheses.pop_back();
  std::vector<float> y;
  for (std::size_t i = 0; i < fewer.y.size(); ++i) {
    if (i % 6 != 5) y.push_back(fewer.y[i]);
  }
  fewer.y = y;
  const Measured other(GetParam(), fewer);
  EXPECT_THROW(state->load(other->save()), std::runtime_error);
}

TEST_P(EveryMeasure, ScoresOfUnitsFollowTheUnits) {
  const Rows rows = drawn_rows(120, 8);
  Rows turned = rows;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t u = 0; u < rows.units; ++u)
      turned.x[r * rows.units + u] = rows.x[r * rows.units + rows.units - 1 - u];
  }
  const Scores scores = scores_of(GetParam(), rows), others = scores_of(GetParam(), turned);
  const std::size_t width = rows.hypotheses.size();
  std::vector<Score> expected;
  for (std::size_t i = 0; i < others.units.size(); ++i)
    expected.push_back(others.units[(rows.units - 1 - i / width) * width + i % width]);
  // Models of float32 sum over units in another order.
  const double tolerance = info().merges ? 1e-7 : 0.02;
  expect_same(scores.units, expected, tolerance);
  expect_same(scores.groups, others.groups, tolerance);
}

TEST_P(EveryMeasure, RanksNoConstantUnitAsNaNAndEveryConstantHypothesis) {
  const Rows rows = drawn_rows(120, 8);
  const Scores scores = scores_of(GetParam(), rows);
  for (std::size_t i = 0; i < scores.units.size(); ++i) {
    const Score& score = scores.units[i];
    const std::size_t u = i / rows.hypotheses.size(), h = i % rows.hypotheses.size();
    const bool applies = std::ranges::find(info().kinds, rows.hypotheses[h].kind) != info().kinds.end();
    if (!applies) {
      EXPECT_EQ(score.status, "not_applicable");
    } else if (h == 4) {
      EXPECT_EQ(score.status, "constant_hypothesis");
    } else if (u == 3) {
      EXPECT_EQ(score.status, "constant_unit");
    }
    EXPECT_EQ(std::isnan(score.value), !applies || h == 4) << u << " " << h << " " << score.status;
  }
  for (std::size_t h = 0; h < scores.groups.size(); ++h) {
    const bool applies = std::ranges::find(info().kinds, rows.hypotheses[h].kind) != info().kinds.end();
    EXPECT_EQ(std::isnan(scores.groups[h].value), !applies || h == 4) << h << " " << scores.groups[h].status;
  }
}

TEST_P(EveryMeasure, LeavesWhatIsFrozenAlone) {
  const Rows rows = drawn_rows(400, 10);
  const std::size_t half = rows.size() / 2;
  const Measured state(GetParam(), rows);
  state->observe(rows.between(0, half).block());
  const std::vector<char> open{0, 1, 1, 0, 1, 1};
  state->freeze(open);
  const Scores before = state->result();
  state->observe(rows.between(half, rows.size()).block());
  const Scores after = state->result();
  if (GetParam() == "linear") return;  // its hypotheses end together
  for (std::size_t i = 0; i < before.units.size(); ++i) {
    if (i % 6 == 0 || i % 6 == 3) expect_same({before.units[i]}, {after.units[i]}, 0);
  }
  for (const std::size_t h : {0U, 3U}) {
    if (!before.groups.empty()) expect_same({before.groups[h]}, {after.groups[h]}, 0);
  }
}

TEST_P(EveryMeasure, SettlesWhatHasConvergedAndSaysSo) {
  const Rows rows = drawn_rows(4000, 12);
  const Measured state(GetParam(), rows, 1, 0.2);
  std::vector<char> open(rows.hypotheses.size(), 1);
  // Probes look at themselves after 4,096 rows and more, and settle after the fourth look at the earliest.
  for (std::size_t turn = 0; turn < (info().merges ? 1 : 5); ++turn) {
    for (std::size_t begin = 0; begin < rows.size(); begin += 2400) {
      state->observe(rows.between(begin, begin + 2400).block());
      open = state->settle();
    }
  }
  // What follows from the units is compressed further with every row, so that its description length is not
  // settled.
  std::vector<char> expected(open.size(), 0);
  if (GetParam() == "mdl") expected[0] = expected[1] = 1;
  EXPECT_EQ(open, expected);
  const Scores scores = state->result();
  for (const Score& score : scores.units) EXPECT_TRUE(score.converged) << score.status;
  for (std::size_t h = 0; h < scores.groups.size(); ++h)
    EXPECT_EQ(scores.groups[h].converged, expected[h] == 0) << h << scores.groups[h].status;
}

}  // namespace
}  // namespace assay::inspection
