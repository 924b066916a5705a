// The whole of an inspection against plain writings of it, and the laws that it keeps.

#include <cmath>
#include <filesystem>
#include <limits>

#include <assay/progress.h>
#include "assay/inspection/state.h"
#include "assay/support/files/file.h"
#include "tests/inspection/networks.h"

namespace assay::inspection {
namespace {

using namespace testing_networks;
using Values = std::vector<float>;

InspectOptions all_records() {
  InspectOptions options;
  options.stop_early = false;
  return options;
}

double plain_pearson(const std::vector<std::pair<double, double>>& rows) {
  double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  for (const auto& [x, y] : rows) mx += x, my += y;
  mx /= static_cast<double>(rows.size()), my /= static_cast<double>(rows.size());
  for (const auto& [x, y] : rows)
    xx += (x - mx) * (x - mx), yy += (y - my) * (y - my), xy += (x - mx) * (y - my);
  return xy / std::sqrt(xx * yy);
}

// A wave over positions that differs from record to record.
Values wave(std::size_t record, std::size_t positions) {
  Values values;
  for (std::size_t p = 0; p < positions; ++p)
    values.push_back(
        static_cast<float>(std::sin(0.7 * static_cast<double>(record) + 1.3 * static_cast<double>(p))));
  return values;
}

std::vector<ScoreRow> sorted_by_unit(std::vector<ScoreRow> rows) {
  std::ranges::stable_sort(rows, {}, [](const ScoreRow& row) { return row.unit.value_or(0); });
  return rows;
}

TEST(Inspect, DenseUnitsAgreeWithAPlainLoop) {
  const InspectedModel model = inspected(dense_network());
  const DatasetPtr data = random_records({4}, 40);
  const auto hypothesis = [](std::size_t r) { return wave(r, 1); };
  const Inspection seen = inspect({model}, {{"fc1", 0, "fc1"}}, data, {written("wave", {}, hypothesis)},
                                  all_records(), silence());
  ASSERT_EQ(seen.rows.size(), 5U);
  EXPECT_EQ(seen.records_read, 40U);
  for (std::size_t u = 0; u < 5; ++u) {
    std::vector<std::pair<double, double>> rows;
    for (std::size_t r = 0; r < 40; ++r)
      rows.emplace_back(value_of(*model.session, *data, r, model.session->layer("fc1").value)[u],
                        hypothesis(r)[0]);
    const ScoreRow row = row_of(seen, u, "wave");
    EXPECT_NEAR(row.score.value, plain_pearson(rows), 1e-5);
    EXPECT_EQ(row.score.rows, 40U);
  }
}

TEST(Inspect, ConvolutionsAreInterpolatedToTheMask) {
  const InspectedModel model = inspected(conv_network());
  const DatasetPtr data = random_records({1, 6, 6}, 12);
  const auto hypothesis = [](std::size_t r) { return wave(r, 36); };
  const Inspection seen = inspect({model}, {{"conv2", 0, "conv2"}}, data,
                                  {written("wave", {6, 6}, hypothesis)}, all_records(), silence());
  for (std::size_t u = 0; u < 2; ++u) {
    std::vector<std::pair<double, double>> rows;
    for (std::size_t r = 0; r < 12; ++r) {
      // [2 units, 2, 2]; positions look at 1.5 and 3.5.
      const Values map = value_of(*model.session, *data, r, model.session->layer("conv2").value);
      for (std::size_t p = 0; p < 36; ++p) {
        const auto share = [](std::size_t at) {
          return std::clamp((static_cast<double>(at) - 1.5) / 2, 0.0, 1.0);
        };
        const double y = share(p / 6), x = share(p % 6);
        const float* const m = map.data() + u * 4;
        rows.emplace_back((1 - y) * ((1 - x) * m[0] + x * m[1]) + y * ((1 - x) * m[2] + x * m[3]),
                          hypothesis(r)[p]);
      }
    }
    EXPECT_NEAR(row_of(seen, u, "wave").score.value, plain_pearson(rows), 1e-5);
    EXPECT_EQ(row_of(seen, u, "wave").score.rows, 12U * 36U);
  }
}

TEST(Inspect, SequencesLeavePaddingOut) {
  const InspectedModel model = inspected(recurrent_network());
  const DatasetPtr data = random_tokens(30, true);
  InspectOptions options = all_records();
  options.vocabulary = Vocabulary{{"_", "a", "b", "c", "d", "e"}, 0};
  const auto hypothesis = [](std::size_t r) {
    Values values = wave(r, 7);
    values[2] = std::numeric_limits<float>::quiet_NaN();
    return values;
  };
  const Inspection seen =
      inspect({model}, {{"cell", 0, "cell"}, {"moves", 0, "cell", "", {}, UnitBehaviour::change}}, data,
              {written("wave", {7}, hypothesis)}, options, silence());
  const ValueId hidden = model.session->graph().find_value("all").value();
  std::uint64_t padding = 0;
  for (std::size_t u = 0; u < 4; ++u) {
    std::vector<std::pair<double, double>> states, moves;
    padding = 0;
    for (std::size_t r = 0; r < 30; ++r) {
      const Values y = value_of(*model.session, *data, r, hidden);  // [7, 1, 1, 4]
      const Batch batch = data->read(std::span(&r, 1));
      for (std::size_t t = 0; t < 7; ++t) {
        if (batch.inputs.as<std::int64_t>()[t] == 0) {
          ++padding;
          continue;
        }
        if (t == 2) continue;
        states.emplace_back(y[t * 4 + u], hypothesis(r)[t]);
        moves.emplace_back(t == 0 ? 0 : y[t * 4 + u] - y[t * 4 - 4 + u], hypothesis(r)[t]);
      }
    }
    EXPECT_NEAR(row_of(seen, u, "wave").score.value, plain_pearson(states), 1e-5);
    const auto other = std::ranges::find_if(
        seen.rows, [&](const ScoreRow& row) { return row.group == "moves" && row.unit == u; });
    ASSERT_NE(other, seen.rows.end());
    EXPECT_NEAR(other->score.value, plain_pearson(moves), 1e-5);
  }
  EXPECT_EQ(seen.pairs[0].padding, padding);
  EXPECT_GT(padding, 0U);
}

TEST(Inspect, TheGradientIsThatOfTheGreatestLogit) {
  const InspectedModel model = inspected(dense_network());
  const DatasetPtr data = random_records({4}, 30);
  const auto hypothesis = [](std::size_t r) { return wave(r, 1); };
  const Inspection seen = inspect({model}, {{"fc1", 0, "fc1", "", {}, UnitBehaviour::gradient}}, data,
                                  {written("wave", {}, hypothesis)}, all_records(), silence());
  const auto w2 =
      model.session->graph().constant(model.session->graph().find_value("w2").value()).as<float>();
  for (std::size_t u = 0; u < 5; ++u) {
    std::vector<std::pair<double, double>> rows;
    for (std::size_t r = 0; r < 30; ++r) {
      const Values logits = value_of(*model.session, *data, r, model.session->logits());
      const auto best = static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
      rows.emplace_back(w2[u * 3 + best], hypothesis(r)[0]);
    }
    EXPECT_NEAR(row_of(seen, u, "wave").score.value, plain_pearson(rows), 1e-5);
  }
}

// Oracle: h = u for some unit gives r = 1, h = -u gives r = -1.
TEST(Inspect, AUnitFollowsItself) {
  const InspectedModel model = inspected(recurrent_network());
  const DatasetPtr data = random_tokens(25);
  const ValueId hidden = model.session->graph().find_value("all").value();
  const auto unit = [&](std::size_t r, float sign) {
    const Values y = value_of(*model.session, *data, r, hidden);
    Values own;
    for (std::size_t t = 0; t < 7; ++t) own.push_back(sign * y[t * 4 + 2]);
    return own;
  };
  const Inspection seen = inspect({model}, {{"cell", 0, "cell"}}, data,
                                  {written("itself", {7}, [&](std::size_t r) { return unit(r, 1); }),
                                   written("opposite", {7}, [&](std::size_t r) { return unit(r, -1); })},
                                  all_records(), silence());
  EXPECT_NEAR(row_of(seen, 2, "itself").score.value, 1, 1e-6);
  EXPECT_NEAR(row_of(seen, 2, "opposite").score.value, -1, 1e-6);
  EXPECT_LT(std::fabs(row_of(seen, 1, "itself").score.value), 1);
}

// Oracle: streaming equals the one-shot result, for any block size, batch size and number of threads.
TEST(Inspect, BlocksBatchesAndThreadsDoNotMatter) {
  const DatasetPtr data = random_tokens(60);
  const auto run = [&](std::size_t block, int threads) {
    InspectOptions options = all_records();
    options.block = block;
    return inspect({inspected(recurrent_network(), threads)}, {{"cell", 0, "cell"}}, data,
                   {written("wave", {7}, [](std::size_t r) { return wave(r, 7); }), "label"}, options,
                   silence());
  };
  const Inspection once = run(1000, 1);
  for (const auto& [block, threads] : {std::pair<std::size_t, int>{7, 1}, {1, 2}, {60, 2}}) {
    const Inspection other = run(block, threads);
    ASSERT_EQ(other.rows.size(), once.rows.size());
    for (std::size_t i = 0; i < once.rows.size(); ++i) {
      if (std::isnan(once.rows[i].score.value)) continue;
      EXPECT_NEAR(other.rows[i].score.value, once.rows[i].score.value, 1e-12) << once.rows[i].hypothesis;
    }
  }
}

// Oracle: permuting records changes nothing, permuting units permutes rows.
TEST(Inspect, TheOrderOfRecordsAndUnitsDoesNotMatter) {
  const InspectedModel model = inspected(dense_network());
  const DatasetPtr data = random_records({4}, 50);
  InspectOptions options = all_records();
  const auto run = [&](std::uint64_t seed, std::vector<UnitGroup> groups) {
    options.seed = seed;
    return inspect({model}, groups, data, {written("wave", {}, [](std::size_t r) { return wave(r, 1); })},
                   options, silence());
  };
  const Inspection first = run(1, {{"fc1", 0, "fc1"}}), second = run(2, {{"fc1", 0, "fc1"}}),
                   split = run(1, {{"a", 0, "fc1", "", {3, 0}}, {"b", 0, "fc1", "", {1, 2, 4}}});
  const auto by_unit = sorted_by_unit(split.rows);
  for (std::size_t u = 0; u < 5; ++u) {
    EXPECT_NEAR(first.rows[u].score.value, second.rows[u].score.value, 1e-12);
    EXPECT_NEAR(first.rows[u].score.value, by_unit[u].score.value, 1e-12);
  }
}

// Oracle: groups give what runs of one group each give; several networks enlarge the set of units.
TEST(Inspect, GroupsAndNetworksAreUnions) {
  const InspectedModel one = inspected(dense_network());
  InspectedModel other = inspected(dense_network());
  other.name = "other";
  const DatasetPtr data = random_records({4}, 30);
  const std::vector<AnnotatorChoice> hypotheses{"label"};
  const Inspection both =
      inspect({one, other}, {{"x", 0, "fc1"}, {"y", 1, "fc2"}}, data, hypotheses, all_records(), silence());
  const Inspection x = inspect({one}, {{"x", 0, "fc1"}}, data, hypotheses, all_records(), silence());
  const Inspection y = inspect({other}, {{"y", 0, "fc2"}}, data, hypotheses, all_records(), silence());
  ASSERT_EQ(both.rows.size(), x.rows.size() + y.rows.size());
  for (std::size_t i = 0; i < both.rows.size(); ++i) {
    const ScoreRow& alone = i < x.rows.size() ? x.rows[i] : y.rows[i - x.rows.size()];
    EXPECT_EQ(both.rows[i].model, alone.model);
    EXPECT_EQ(both.rows[i].hypothesis, alone.hypothesis);
    if (!std::isnan(alone.score.value)) {
      EXPECT_DOUBLE_EQ(both.rows[i].score.value, alone.score.value);
    }
  }
}

TEST(Inspect, StopsWhereNothingIsOpenAndSaysOnHowManyRowsScoresRest) {
  const InspectedModel model = inspected(dense_network());
  const DatasetPtr data = random_records({4}, 4000);
  InspectOptions options;
  options.tolerance = 0.2;
  options.block = 100;
  const Inspection seen =
      inspect({model}, {{"fc1", 0, "fc1"}}, data,
              {written("wave", {}, [](std::size_t r) { return wave(r, 1); })}, options, silence());
  EXPECT_LT(seen.records_read, 1000U);
  EXPECT_EQ(seen.records, 4000U);
  for (const ScoreRow& row : seen.rows) {
    EXPECT_TRUE(row.score.converged);
    EXPECT_LE(row.score.rows, seen.records_read);
    EXPECT_LE(row.score.high - row.score.low, 2 * 0.2 + 1e-12);
  }
}

TEST(Inspect, RowsThatAreNotFiniteAreCountedAndLeftOut) {
  GraphBuilder b("log");
  const ValueId x = b.input("x", DType::float32, {-1, 2});
  b.output(b.add("Gemm", "fc",
                 {b.add("Log", "log", {x}), b.constant("w", Array::of<float>({2, 2}, {1, 0, 0, 1}))}));
  const DatasetPtr data = from_arrays(Array::of<float>({4, 2}, {1, 2, 0, 1, 3, 1, 2, 5}), {0, 1, 0, 1});
  const Inspection seen =
      inspect({inspected(b.build())}, {{"fc", 0, "fc"}}, data, {"label"}, all_records(), silence());
  EXPECT_EQ(seen.pairs[0].not_finite, 1U);
  EXPECT_EQ(seen.pairs[0].rows, 3U);
}

TEST(Inspect, ShardsMergeToTheWhole) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "assay_inspect_shards";
  std::filesystem::remove_all(folder);
  const InspectedModel model = inspected(recurrent_network());
  const DatasetPtr data = random_tokens(50, true);
  InspectOptions options = all_records();
  options.vocabulary = Vocabulary{{"_", "a", "b", "c", "d", "e"}, 0};
  const auto run = [&](std::size_t shard, std::size_t shards, const std::string& name) {
    options.shard = shard, options.shards = shards, options.state = folder / name;
    return inspect({model}, {{"cell", 0, "cell"}}, data,
                   {written("wave", {7}, [](std::size_t r) { return wave(r, 7); }), "label"}, options,
                   silence());
  };
  const Inspection whole = run(1, 1, "whole");
  for (const std::size_t shard : {1, 2, 3}) run(shard, 3, std::to_string(shard));
  InspectionState all = InspectionState::read(folder / "3");
  all.merge(InspectionState::read(folder / "1"));
  EXPECT_THROW(all.merge(InspectionState::read(folder / "1")), Error);
  EXPECT_THROW(all.merge(InspectionState::read(folder / "whole")), Error);
  all.merge(InspectionState::read(folder / "2"));
  const Inspection merged = all.result();
  ASSERT_EQ(merged.rows.size(), whole.rows.size());
  EXPECT_EQ(merged.records_read, 50U);
  EXPECT_EQ(merged.pairs[0].rows, whole.pairs[0].rows);
  for (std::size_t i = 0; i < whole.rows.size(); ++i) {
    EXPECT_EQ(merged.rows[i].score.rows, whole.rows[i].score.rows);
    if (!std::isnan(whole.rows[i].score.value)) {
      EXPECT_NEAR(merged.rows[i].score.value, whole.rows[i].score.value, 1e-12);
    }
  }
  write_file(folder / "broken", "no state");
  EXPECT_THROW(InspectionState::read(folder / "broken"), Error);
  std::filesystem::remove_all(folder);
}

TEST(Inspect, MismatchesNameHypothesisAndRecord) {
  const auto message = [](const InspectedModel& model, const std::string& layer, const DatasetPtr& data,
                          Shape positions) {
    try {
      inspect({model}, {{"group", 0, layer}}, data,
              {written("odd", positions,
                       [=](std::size_t) {
                         return Values(static_cast<std::size_t>(element_count(positions)), 1);
                       })},
              {}, silence());
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::mismatch);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string length = message(inspected(recurrent_network()), "cell", random_tokens(5), {6});
  EXPECT_NE(length.find("'odd'"), std::string::npos) << length;
  EXPECT_NE(length.find("record '"), std::string::npos) << length;
  const std::string axes = message(inspected(conv_network()), "conv1", random_records({1, 6, 6}, 5), {6});
  EXPECT_NE(axes.find("'odd'"), std::string::npos) << axes;
  EXPECT_NE(axes.find("record '"), std::string::npos) << axes;
}

TEST(Inspect, HypothesesOfOneNameAreRefused) {
  const InspectedModel model = inspected(dense_network());
  const auto one = written("same", {}, [](std::size_t) { return Values{1}; });
  EXPECT_THROW(inspect({model}, {{"fc1", 0, "fc1"}}, random_records({4}, 5), {one, one}, {}, silence()),
               Error);
  EXPECT_THROW(inspect({model}, {}, random_records({4}, 5), {one}, {}, silence()), Error);
  EXPECT_THROW(inspect({model}, {{"fc1", 1, "fc1"}}, random_records({4}, 5), {one}, {}, silence()), Error);
}

}  // namespace
}  // namespace assay::inspection
