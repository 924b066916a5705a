// How items stand, and when a record has changed.

#include "assay/task/standing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "tests/task/made.h"

namespace assay::task {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Three classes at two positions: [3, 2] in the order of the output.
const std::vector<float> two_pixels{1, 5, 4, 2, 2, 2};

TEST(Leads, AreOfTheClassOverTheStrongestOther) {
  const auto task = made("pixels", {.output = {3, 2}, .targets = 2});
  const std::vector<Lead> leads = task->leads(two_pixels, {{1, 1}});
  // Position 0 has 1, 4, 2; position 1 has 5, 2, 2.
  EXPECT_EQ(leads[0].own, 2);
  EXPECT_EQ(leads[0].rival, 4);
  EXPECT_FLOAT_EQ(leads[0].value, 2);
  EXPECT_FLOAT_EQ(leads[0].scale, 4);
  EXPECT_TRUE(leads[0].holds);
  EXPECT_EQ(leads[1].own, 3);
  EXPECT_EQ(leads[1].rival, 1);
  EXPECT_FLOAT_EQ(leads[1].value, -3);
  EXPECT_FALSE(leads[1].holds);
  EXPECT_EQ(task->decide(two_pixels).classes, (std::vector<std::int64_t>{1, 0}));
}

TEST(Positions, AreThoseOfTheOutputAndTheMiddlesOfBoxes) {
  const auto pixels = made("pixels", {.output = {3, 2, 4}, .targets = 8});
  const Positions all = pixels->positions({std::vector<std::int64_t>(8, 1)});
  EXPECT_EQ(all.grid, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(all.cells, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const auto boxes = made(
      "boxes",
      {.output = {6, 9}, .targets = 10, .input = {3, 10, 20}, .outputs = {{.name = "y", .shape = {6, 9}}}});
  // A box from 2 to 8 and 4 to 6; one beyond the picture; one that is missed, of class 2.
  const Positions middles = boxes->positions({{0, 1, 2}, {2, 4, 8, 6, 30, 30, 40, 40, 0, 0, 2, 2}});
  EXPECT_EQ(middles.grid, (std::vector<std::int64_t>{10, 20}));
  EXPECT_EQ(middles.cells, (std::vector<std::int64_t>{5 * 20 + 5, 9 * 20 + 19, no_class}));
  EXPECT_TRUE(made("labels", {.output = {2}, .targets = 2})->positions({{1, 0}}).grid.empty());
}

TEST(Leads, OfEqualScoresTheFirstClassHolds) {
  const auto task = made("pixels", {.output = {3, 1}, .targets = 1});
  const std::vector<float> equal{2, 2, 1};
  EXPECT_TRUE(task->leads(equal, {{0}})[0].holds);
  EXPECT_FALSE(task->leads(equal, {{1}})[0].holds);
  EXPECT_EQ(task->leads(equal, {{1}})[0].value, 0);
}

TEST(Leads, OfOneScoreAreFromTheThreshold) {
  const auto task = made("labels[threshold=0.5]", {.output = {2}, .targets = 2});
  const std::vector<float> scores{0.75F, 0.25F};
  const std::vector<Lead> leads = task->leads(scores, {{1, 0}});
  EXPECT_EQ(leads[0].own, 0);
  EXPECT_EQ(leads[0].rival, Lead::none);
  EXPECT_FLOAT_EQ(leads[0].value, 0.25F);
  EXPECT_EQ(leads[1].own, Lead::none);
  EXPECT_EQ(leads[1].rival, 1);
  EXPECT_FLOAT_EQ(leads[1].value, 0.25F);
  EXPECT_TRUE(leads[0].holds && leads[1].holds);
}

std::vector<Lead> leads_of(std::initializer_list<float> values) {
  std::vector<Lead> leads;
  for (const float value : values) leads.push_back({.value = value, .scale = 1, .holds = value > 0});
  return leads;
}

TEST(Standing, CountsWhatHasChangedOfTheItemsThatCount) {
  const Items items{{0, no_class, 2, 1, 0}};
  const std::vector<Lead> leads = leads_of({3, -9, -1, 2, 5});
  const Standing any = standing_of(leads, items, 0);
  EXPECT_EQ(any.items, 4U);
  EXPECT_EQ(any.changed, 1U);
  EXPECT_TRUE(any.beyond);
  EXPECT_EQ(any.deciding.value, -1);
  // A quarter is one item: only a second one is more.
  const Standing quarter = standing_of(leads, items, 0.25);
  EXPECT_FALSE(quarter.beyond);
  EXPECT_EQ(quarter.deciding.value, 2);
}

TEST(Standing, TakesANanForAChange) {
  const Standing standing = standing_of(leads_of({nan, 1}), {{0, 0}}, 0);
  EXPECT_TRUE(standing.beyond);
  EXPECT_TRUE(std::isnan(standing.deciding.value));
  EXPECT_EQ(standing_of({}, {}, 0).items, 0U);
}

TEST(ItemScores, AreThoseOfTheClassesOrHalfTheDistanceFromTheThreshold) {
  const auto pixels = made("pixels", {.output = {3, 2}, .targets = 2});
  const ItemScores of_pixels = item_scores(*pixels, two_pixels, {{1, no_class}});
  EXPECT_EQ(of_pixels.weights, (std::vector<float>{0, 0, 1, 0, 0, 0}));
  const auto labels = made("labels[threshold=0.5]", {.output = {2}, .targets = 2});
  const std::vector<float> scores{0.75F, 0.25F};
  const ItemScores of_labels = item_scores(*labels, scores, {{1, 0}});
  EXPECT_EQ(of_labels.weights, (std::vector<float>{0.5F, -0.5F}));
  EXPECT_EQ(of_labels.threshold, 0.5F);
  EXPECT_TRUE(item_scores(*labels, scores, {}).weights.empty());
}

TEST(KeepClass, IsOfPositionsTheClassAndOfLabelsTheLabelThatIsThere) {
  Items positions{{0, 2, 1, 2}};
  keep_class(*made("pixels", {.output = {3, 4}, .targets = 4}), 2, positions);
  EXPECT_EQ(positions.classes, (std::vector<std::int64_t>{no_class, 2, no_class, 2}));
  Items labels{{1, 1, 0}};
  keep_class(*made("labels", {.output = {3}, .targets = 3}), 1, labels);
  EXPECT_EQ(labels.classes, (std::vector<std::int64_t>{no_class, 1, no_class}));
}

TEST(Rows, AreTheItemsThatCount) {
  const auto task = made("pixels[ignore=9]", {.output = {3, 2}, .targets = 2});
  const Array outputs = Array::of<float>({1, 3, 2}, two_pixels),
              targets = Array::of<float>({1, 2}, std::vector<float>{9, 2});
  const ItemRows rows = task->rows(outputs, targets);
  EXPECT_EQ(rows.scores.shape(), (Shape{1, 3}));
  EXPECT_EQ(rows.scores.as<float>()[0], 5);
  EXPECT_EQ(rows.labels.as<std::int64_t>()[0], 2);
}

TEST(Rows, OfProbabilitiesAreTheirLogarithms) {
  const auto task = made("pixels", {.output = {2, 1}, .targets = 1, .probabilities = true});
  const ItemRows rows = task->rows(Array::of<float>({1, 2, 1}, std::vector<float>{0.25F, 0.75F}),
                                   Array::of<float>({1, 1}, std::vector<float>{1}));
  EXPECT_NEAR(rows.scores.as<float>()[0], std::log(0.25), 1e-6);
  EXPECT_FALSE(rows.probabilities);
}

// A task that says no more than what is right.
class Judging final : public Task {
 public:
  std::string describe() const override { return "judging"; }
  std::vector<std::string> class_names() const override { return {}; }
  Judgement judge(const JudgedRecord&) const override { return {}; }
  std::vector<Figure> figures(const Sums&) const override { return {}; }
};

TEST(Task, WithoutScoresOfItemsIsForEvaluationAlone) {
  for (const auto& use : std::vector<std::function<void(const Task&)>>{
           [](const Task& task) { task.decide({}); }, [](const Task& task) { task.leads({}, {}); },
           [](const Task& task) { task.rows({}, {}); }}) {
    try {
      use(Judging());
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::unsupported);
      EXPECT_NE(std::string(error.what()).find("task 'judging'"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace assay::task
