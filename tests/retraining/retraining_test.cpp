#include <assay/retraining.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/data/views.h"
#include "assay/support/files/file.h"
#include "tests/attack/build.h"
#include "tests/support/records.h"

namespace assay::test {
using namespace retraining;
namespace {

namespace fs = std::filesystem;

// Points of the unit square, class 1 above the diagonal: on the left and right alike, but the network is only
// trained on the left, where a threshold of the height does as well. Those on the right are what is to be
// added.
DatasetPtr points(std::size_t count, double left, double right, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::vector<float>> values;
  std::vector<std::int64_t> labels;
  while (values.size() < count) {
    const double x = rng.uniform(left, right), y = rng.uniform();
    if (std::fabs(y - x) < 0.05) continue;
    values.push_back({static_cast<float>(x), static_cast<float>(y)});
    labels.push_back(y > x);
  }
  return records(std::move(values), std::move(labels));
}

class RetrainingAPlan : public testing::Test {
 protected:
  RetrainingAPlan() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::path(testing::TempDir()) / (std::string("assay_retraining_") + info->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
    plan.training = points(200, 0, 0.3, 1);
    const DatasetPtr found = points(120, 0.6, 1, 2);
    const HoldOut sides = hold_out(*found, 0.5, 1);
    plan.conditions = {
        {"given", selected(found, sides.kept)}, {"more", points(60, 0, 0.3, 5)}, {"none", nullptr}};
    plan.sets = {{"test", points(200, 0, 0.3, 3)}, {"held-out", selected(found, sides.held)}};
    plan.recipe.optimiser = "adam";
    plan.recipe.learning_rate = 0.02;
    plan.recipe.batch = 20;
    plan.recipe.epochs = 12;
    plan.count = 40;
    plan.repeats = 3;
    Net net("square", 4);
    ValueId x = net.input({-1, 2});
    x = net.builder.add("Tanh", "tanh", {net.dense("hidden", x, 2, 6)});
    training::Recipe recipe = plan.recipe;
    recipe.initialiser = "keep";
    recipe.epochs = 40;
    graph = training::train(net.build(net.dense("logits", x, 6, 2)), plan.training, nullptr, recipe,
                            one_thread, silence())
                .graph;
  }
  ~RetrainingAPlan() override { fs::remove_all(folder); }

  Retraining run(Progress& progress = silence()) const { return retrain(graph, plan, one_thread, progress); }
  static std::vector<std::vector<double>> scores(const Retraining& retraining) {
    std::vector<std::vector<double>> all;
    for (const RetrainingRun& run : retraining.runs) all.push_back(run.scores);
    return all;
  }

  Graph graph;
  RetrainingPlan plan;
  fs::path folder;
};

TEST_F(RetrainingAPlan, WhatIsAddedIsLearnedAndTheRestIsKept) {
  const Retraining result = run();
  ASSERT_EQ(result.runs.size(), 9U);
  EXPECT_TRUE(result.higher_is_better);
  EXPECT_GT(result.before[0], 0.9);
  const std::vector<ConditionScore> rows = compare(plan, result, "none", "more");
  ASSERT_EQ(rows.size(), 6U);
  for (const ConditionScore& row : rows) {
    EXPECT_EQ(row.to_control.has_value(), row.condition != "none") << row.condition;
    EXPECT_EQ(row.to_reference.has_value(), row.condition == "given") << row.condition;
    EXPECT_GT(row.score.mean, row.set == "test" ? 0.9 : 0.0) << row.condition;
  }
  const auto given = std::ranges::find_if(
      rows, [](const ConditionScore& row) { return row.set == "held-out" && row.condition == "given"; });
  EXPECT_GT(given->score.mean, result.before[1] + 0.05);
  EXPECT_GT(*given->to_control->low, 0);
  EXPECT_GT(*given->to_reference->low, 0);
}

TEST_F(RetrainingAPlan, TheSamePlanGivesTheSameRunsAndAnotherSeedOthers) {
  const Retraining first = run(), second = run();
  EXPECT_EQ(scores(first), scores(second));
  EXPECT_EQ(first.before, second.before);
  plan.networks = folder;
  run();
  const std::string one = read_file(folder / "given.onnx");
  plan.seed = 2;
  run();
  EXPECT_NE(one, read_file(folder / "given.onnx"));
}

// Presses Ctrl-C by throwing after so many units of work.
class Impatient final : public Progress {
 public:
  explicit Impatient(std::size_t patience) : patience_(patience) {}
  void begin(std::string_view, std::size_t, std::string_view) override {}
  void advance(std::size_t done, std::string_view) override {
    if (done >= patience_) throw Error(Fault::interrupted, "enough");
    patience_ -= done;
  }
  void end() override {}
  void notice(std::string_view) override {}

 private:
  std::size_t patience_;
};

TEST_F(RetrainingAPlan, InterruptedAtAnyTimeItGoesOnToTheSameResult) {
  const Retraining calm = run();
  plan.networks = folder / "calm";
  run();
  plan.networks = folder / "networks";
  plan.journal = folder / "journal";
  std::size_t interruptions = 0;
  for (const std::size_t patience : {5'000, 9'000, 14'000}) {
    Impatient impatient(patience);
    try {
      run(impatient);
    } catch (const Error& error) {
      ASSERT_EQ(error.fault(), Fault::interrupted) << error.what();
      ++interruptions;
    }
  }
  EXPECT_GE(interruptions, 2U);
  const Retraining result = run();
  EXPECT_GT(result.reused, 0U);
  EXPECT_EQ(scores(result), scores(calm));
  for (const char* name : {"given.onnx", "more.onnx", "none.onnx"}) {
    EXPECT_TRUE(read_file(folder / "networks" / name) == read_file(folder / "calm" / name)) << name;
  }
  EXPECT_EQ(run().reused, 9U);
  fs::remove(folder / "networks" / "more.onnx");
  EXPECT_EQ(run().reused, 8U);
  plan.repeats = 4;
  EXPECT_EQ(run().reused, 9U);
  plan.recipe.learning_rate = 0.01;
  EXPECT_EQ(run().reused, 0U);
}

TEST_F(RetrainingAPlan, SaysWhatDoesNotFit) {
  const auto fault = [&] {
    try {
      run();
    } catch (const Error& error) {
      return error.fault();
    }
    return Fault::internal;
  };
  const RetrainingPlan sound = plan;
  plan.count = 1000;
  EXPECT_EQ(fault(), Fault::usage);
  plan = sound;
  plan.conditions[0].candidates = records({{0.1F, 0.2F}}, {2});
  plan.count = 1;
  EXPECT_EQ(fault(), Fault::mismatch);
  plan = sound;
  plan.conditions.clear();
  EXPECT_EQ(fault(), Fault::usage);
  plan = sound;
  plan.sets[0].data = records({{0.1F, 0.2F}}, {});
  EXPECT_EQ(fault(), Fault::mismatch);
}

}  // namespace
}  // namespace assay::test
