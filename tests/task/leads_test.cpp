// Items that are known by more than their position: boxes, characters, numbers, embeddings. What is decided
// holds in the same output, and gradients are those of finite differences.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <assay/evaluate.h>
#include "assay/task/sequences.h"
#include "assay/task/standing.h"
#include "tests/task/made.h"

namespace assay::task {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float sure = 1e-3F;

// The value of one lead may change with any number.
void expect_gradients(const Task& task, const std::vector<float>& output, const Items& items) {
  const std::vector<Lead> leads = task.leads(output, items);
  for (std::size_t i = 0; i < leads.size(); ++i) {
    std::vector<float> gradients(output.size());
    task.differentiate(output, leads[i], 2, gradients);
    for (std::size_t k = 0; k < output.size(); ++k) {
      std::vector<float> low = output, high = output;
      low[k] -= sure;
      high[k] += sure;
      const double slope = (static_cast<double>(task.leads(high, items)[i].value) -
                            static_cast<double>(task.leads(low, items)[i].value)) /
                           (2 * sure);
      EXPECT_NEAR(gradients[k], 2 * slope, 5e-3) << "item " << i << ", number " << k;
    }
  }
}

void expect_decided_holds(const Task& task, const std::vector<float>& output) {
  const Items items = task.decide(output);
  ASSERT_FALSE(items.classes.empty());
  for (const Lead& lead : task.leads(output, items)) {
    EXPECT_TRUE(lead.holds);
    EXPECT_GE(lead.value, 0);
  }
}

TaskSubject rows_of_boxes(std::int64_t boxes, std::int64_t width, std::size_t labels) {
  return {.output = {boxes, width},
          .targets = 5 * labels,
          .input = {3, 100, 100},
          .outputs = {{"out", {boxes, width}}}};
}

// Box, objectness, two scores: one of class 0, one of class 1, one that is not sure.
const std::vector<float> three_boxes = {10,   10,   8,    8,  0.9F, 0.8F, 0.1F, 50,   50,   20,  20,
                                        0.8F, 0.2F, 0.7F, 80, 80,   9,    9,    0.5F, 0.3F, 0.2F};

TEST(LeadsOfBoxes, AreOfTheDetectionThatMatches) {
  const auto task = made("boxes[format=yolo5]", rows_of_boxes(3, 7, 2));
  const Items items = task->decide(three_boxes);
  EXPECT_THAT(items.classes, ElementsAre(0, 1));
  EXPECT_THAT(items.places, ElementsAre(6, 6, 14, 14, 40, 40, 60, 60));
  const std::vector<Lead> leads = task->leads(three_boxes, items);
  EXPECT_EQ(leads[0].own, 5);   // the score of class 0
  EXPECT_EQ(leads[1].own, 13);  // of class 1
  EXPECT_NEAR(leads[0].value, 0.72 - 0.25, 1e-6);
  EXPECT_NEAR(leads[1].value, 0.56 - 0.25, 1e-6);
  expect_decided_holds(*task, three_boxes);
  // One that is not sure enough leads to where it would be; where nothing is there is nothing to lead.
  const std::vector<Lead> others = task->leads(three_boxes, {{0, 1}, {76, 76, 84, 84, 0, 90, 5, 95}});
  EXPECT_FALSE(others[0].holds || others[1].holds);
  EXPECT_NEAR(others[0].value, 0.15 - 0.25, 1e-6);
  EXPECT_EQ(others[1].own, Lead::none);
  EXPECT_LT(others[1].value, 0);
}

TEST(LeadsOfBoxes, GradientsAreThoseOfTheScore) {
  const Items both{{0, 1}, {6, 6, 14, 14, 40, 40, 60, 60}};
  expect_gradients(*made("boxes[format=yolo5]", rows_of_boxes(3, 7, 2)), three_boxes, both);
  expect_gradients(*made("boxes[format=yolo5,score=sigmoid]", rows_of_boxes(3, 7, 2)), three_boxes, both);
  expect_gradients(
      *made("boxes[parts=box+scores+skip,format=yolo5,score=softmax,background=last,labels=best]",
            rows_of_boxes(3, 8, 2)),
      {10, 10, 8, 8, 2, 1, 0.5F, 9, 50, 50, 20, 20, 0, 3, 1, 9, 80, 80, 9, 9, 1, 0, 3, 9}, both);
  // A box is a column.
  const auto columns =
      made("boxes[format=yolo8]",
           {.output = {6, 3}, .targets = 10, .input = {3, 100, 100}, .outputs = {{"out", {6, 3}}}});
  const std::vector<float> output = {10, 50, 80, 10,   50,   80, 8,    20,   9,
                                     8,  20, 9,  0.9F, 0.1F, 0,  0.2F, 0.6F, 0};
  EXPECT_THAT(columns->decide(output).classes, ElementsAre(0, 1));
  expect_gradients(*columns, output, both);
}

TEST(LeadsOfBoxes, ExplainedScoresSumUpToThoseOfTheDetections) {
  const auto task = made("boxes[format=yolo5]", rows_of_boxes(3, 7, 2));
  const ItemScores scores = item_scores(*task, three_boxes, task->decide(three_boxes));
  double sum = 0;
  for (std::size_t k = 0; k < three_boxes.size(); ++k) sum += scores.weights[k] * three_boxes[k];
  EXPECT_NEAR(sum, 0.72 + 0.56, 1e-6);
  EXPECT_EQ(scores.threshold, 0);
}

TEST(LeadsOfBoxes, OfAnotherNumberAppearAsNoClassButTheirs) {
  // Corners, score and number of the class: one of class 0 that is there, one of 0 and one of 1 that are not
  // sure.
  const auto task = made("boxes[format=yolo10,names=a+b]", rows_of_boxes(3, 6, 1));
  const std::vector<float> output = {0,  0,  9,  9,  0.9F, 0,  //
                                     20, 20, 29, 29, 0.2F, 0,  //
                                     40, 40, 49, 49, 0.1F, 1};
  const Items before = task->decide(output);
  EXPECT_THAT(before.classes, ElementsAre(0));
  const std::vector<Lead> of_a = task->appearing(output, 0, before),
                          of_b = task->appearing(output, 1, before);
  ASSERT_EQ(of_a.size(), 1U);
  EXPECT_EQ(of_a[0].own, 10);
  EXPECT_NEAR(of_a[0].value, 0.2 - 0.25, 1e-6);
  ASSERT_EQ(of_b.size(), 1U);
  EXPECT_EQ(of_b[0].own, 16);
}

TEST(RowsOfBoxes, MayBeNone) {
  const auto task = made("boxes[format=yolo5,parts=box+scores,score=softmax,background=last,labels=best]",
                         rows_of_boxes(1, 7, 1));
  const ItemRows rows = task->rows(Array::of<float>({1, 1, 7}, std::vector<float>{1, 1, 1, 1, 0, 0, 20}),
                                   Array::of<float>({1, 5}, std::vector<float>{-1, 0, 0, 0, 0}));
  EXPECT_EQ(rows.scores.shape(), (Shape{0, 1}));
}

TEST(Explaining, ALeadWithoutNumbersHasNoWeights) {
  const auto task = made("pixels", {.output = {2, 1}, .targets = 1});
  std::vector<float> weights(2);
  task->explain(std::vector<float>{1, 2}, {}, weights);
  EXPECT_THAT(weights, ElementsAre(0, 0));
}

TEST(RowsOfBoxes, AreDetectionsRightAndWrong) {
  const auto task = made("boxes[format=yolo5]", rows_of_boxes(3, 7, 2));
  const ItemRows rows = task->rows(Array::of<float>({1, 3, 7}, three_boxes),
                                   Array::of<float>({1, 10}, std::vector<float>{0, 6, 6, 14, 14,  //
                                                                                0, 76, 76, 84, 84}));
  EXPECT_TRUE(rows.probabilities);
  ASSERT_EQ(rows.scores.shape(), (Shape{3, 1}));
  const std::vector<float> scores(rows.scores.as<float>().begin(), rows.scores.as<float>().end());
  EXPECT_THAT(scores, ElementsAre(::testing::FloatNear(0.72F, sure), ::testing::FloatNear(0.15F, sure),
                                  ::testing::FloatNear(0.56F, sure)));
  const auto labels = rows.labels.as<std::int64_t>();
  EXPECT_THAT(std::vector<std::int64_t>(labels.begin(), labels.end()), ElementsAre(1, 1, 0));
  const ItemRows none = task->rows(Array::of<float>({1, 1, 7}, std::vector<float>(7)),
                                   Array::of<float>({1, 5}, std::vector<float>{-1, 0, 0, 0, 0}));
  EXPECT_EQ(none.scores.shape(), (Shape{0, 1}));
}

class Texts : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(alphabet_) << "a\nb\nc\n"; }

  // Scores of "-abc" in so many steps, the named symbol having 2 and the next one 1.
  static std::vector<float> written(const std::string& steps) {
    std::vector<float> scores;
    for (const char step : steps) {
      const auto symbol = static_cast<std::size_t>(std::string("-abc").find(step));
      for (std::size_t k = 0; k < 4; ++k)
        scores.push_back(k == symbol ? 2 : k == (symbol + 1) % 4 ? 1.25F : 0);
    }
    return scores;
  }
  std::unique_ptr<Task> task(std::int64_t steps) const {
    return made("text[alphabet=" + alphabet_.string() + ",axis=2]", {.output = {steps, 4}, .targets = 4});
  }
  std::vector<bool> hold(const std::string& before, const std::string& after) const {
    const auto of = task(static_cast<std::int64_t>(before.size()));
    std::vector<bool> holds;
    for (const Lead& lead : of->leads(written(after), of->decide(written(before))))
      holds.push_back(lead.holds);
    return holds;
  }

 private:
  std::filesystem::path alphabet_ = std::filesystem::path(::testing::TempDir()) / "leads_alphabet.txt";
};

TEST_F(Texts, CharactersHoldUnlessTheyChangeOrOthersComeBetween) {
  EXPECT_THAT(hold("aa-b-c", "a--bbc"), ElementsAre(true, true, true));  // written otherwise, read alike
  EXPECT_THAT(hold("aa-b-c", "aa-c-c"), ElementsAre(true, false, true));
  EXPECT_THAT(hold("aa-b-c", "aa---c"), ElementsAre(true, false, true));
  EXPECT_THAT(hold("aa---c", "aa-b-c"), ElementsAre(true, false));  // before the second one
  EXPECT_THAT(hold("-a-b--", "-a-b-c"), ElementsAre(true, false));  // after the last one
  EXPECT_TRUE(hold("------", "aaaaaa").empty());
}

TEST_F(Texts, ACharacterIsLedByItsSurestStep) {
  const auto of = task(4);
  std::vector<float> output = written("-aab");
  output[2 * 4 + 1] = 5;  // the second step of "a"
  const std::vector<Lead> leads = of->leads(output, of->decide(output));
  EXPECT_EQ(leads[0].own, 2 * 4 + 1);
  EXPECT_EQ(leads[0].rival, 2 * 4 + 2);
  EXPECT_FLOAT_EQ(leads[0].value, 5 - 1.25F);
  expect_decided_holds(*of, output);
  expect_gradients(*of, output, of->decide(output));
}

TEST_F(Texts, RowsAreTheLikeliestWayToWriteTheLabel) {
  const auto of = task(4);
  const ItemRows rows = of->rows(Array::of<float>({1, 4, 4}, written("aa-c")),
                                 Array::of<float>({1, 4}, std::vector<float>{'a', 'b', -1, -1}));
  const auto labels = rows.labels.as<std::int64_t>();
  EXPECT_THAT(std::vector<std::int64_t>(labels.begin(), labels.end()), ElementsAre(1, 2, 0, 0));
  EXPECT_EQ(rows.scores.shape(), (Shape{4, 4}));
  EXPECT_THAT(fault_of([&] {
                of->rows(Array::of<float>({1, 4, 4}, written("aa-c")),
                         Array::of<float>({1, 4}, std::vector<float>{'a', 'a', 'a', -1}));
              }),
              HasSubstr("its text of 3 characters takes 5 steps (one more between two that are equal), and "
                        "the network has 4"));
  EXPECT_THAT(fault_of([&] {
                of->rows(Array::of<float>({1, 4, 4}, written("aa-c")),
                         Array::of<float>({1, 4}, std::vector<float>{'x', -1, -1, -1}));
              }),
              HasSubstr("is not in the alphabet"));
}

// Against all ways there are.
TEST(LikeliestSteps, AreThoseOfThePathsThatSpellTheText) {
  const std::vector<float> scores = {0.1F, 0.7F, 0.2F, 0.6F, 0.3F, 0.5F, 0.4F, 0.9F, 0.3F, 0.2F, 0.8F, 0.6F};
  for (const std::vector<std::int64_t>& text :
       std::vector<std::vector<std::int64_t>>{{}, {1}, {2, 1}, {1, 1}, {2, 2}, {1, 2, 1}}) {
    double best = -1;
    for (int code = 0; code < 81; ++code) {
      double sum = 0;
      std::vector<std::int64_t> spelt;
      std::int64_t before = 0;
      for (int t = 0, rest = code; t < 4; ++t, rest /= 3) {
        const std::int64_t symbol = rest % 3;
        sum += scores[static_cast<std::size_t>(t * 3 + symbol)];
        if (symbol != before && symbol != 0) spelt.push_back(symbol);
        before = symbol;
      }
      if (spelt == text) best = std::max(best, sum);
    }
    const std::vector<std::int64_t> path = likeliest_steps(scores, 3, text, 0);
    ASSERT_EQ(path.size(), 4U);
    double sum = 0;
    for (std::size_t t = 0; t < 4; ++t) sum += scores[t * 3 + static_cast<std::size_t>(path[t])];
    EXPECT_NEAR(sum, best, 1e-6);
  }
  EXPECT_TRUE(likeliest_steps(scores, 3, std::vector<std::int64_t>{1, 1, 1}, 0).empty());
}

TEST(LeadsOfProbabilities, AreThoseOfTheLogits) {
  const auto yes = made("labels", {.output = {2}, .targets = 2, .probabilities = true});
  const auto sigmoid = [](float z) { return 1 / (1 + std::exp(-z)); };
  const std::vector<float> two = {sigmoid(3), sigmoid(-2)};
  const std::vector<Lead> of_two = yes->leads(two, {{1, 0}});
  EXPECT_NEAR(of_two[0].value, 3, 1e-4);
  EXPECT_NEAR(of_two[1].value, 2, 1e-4);
  const auto classes = made("pixels", {.output = {3, 1}, .targets = 1, .probabilities = true});
  const std::vector<float> three = {0.2F, 0.5F, 0.3F};  // the softmax of their logarithms
  EXPECT_NEAR(classes->leads(three, {{1}})[0].value, std::log(0.5 / 0.3), 1e-6);
  std::vector<float> gradients(3);
  classes->differentiate(three, classes->leads(three, {{1}})[0], 1, gradients);
  EXPECT_THAT(gradients, ElementsAre(0, 2, ::testing::FloatEq(-1 / 0.3F)));
  expect_gradients(*yes, {0.4F, 0.7F}, {{1, 0}});
  EXPECT_TRUE(std::isfinite(yes->leads(std::vector<float>{1, 0}, {{1, 1}})[0].value));
}

TEST(LeadsOfNumbers, AreWhatIsLeftOfTheTolerance) {
  const auto task = made("regression[tolerance=0.5]", {.output = {2}, .targets = 2});
  const std::vector<float> output = {1.25F, -2};
  const Judgement judged = task->judge({output, std::vector<float>{1, -1}});
  EXPECT_THAT(judged.places, ElementsAre(1, -1));
  const Items items{judged.wanted, judged.places};
  const std::vector<Lead> leads = task->leads(output, items);
  EXPECT_FLOAT_EQ(leads[0].value, 0.25F);
  EXPECT_FLOAT_EQ(leads[1].value, -0.5F);
  EXPECT_TRUE(leads[0].holds);
  EXPECT_FALSE(leads[1].holds);
  expect_gradients(*task, output, items);
  expect_decided_holds(*task, output);
  EXPECT_THAT(item_scores(*task, output, items).weights, ElementsAre(1, 1));
}

TEST(LeadsOfNumbers, GoTheShorterWayRound) {
  const auto task = made("regression[tolerance=20,wrap=360]", {.output = {1}, .targets = 1});
  const Items at_350{{1}, {350}};
  EXPECT_FLOAT_EQ(task->leads(std::vector<float>{5}, at_350)[0].value, 5);
  expect_gradients(*task, {5}, at_350);
  const ItemRows rows = task->rows(Array::of<float>({1, 1}, std::vector<float>{5}),
                                   Array::of<float>({1, 1}, std::vector<float>{350}));
  EXPECT_FLOAT_EQ(rows.numbers.as<float>()[0], -10);
  EXPECT_FALSE(rows.labels.defined());
}

class Embeddings : public ::testing::TestWithParam<const char*> {
 protected:
  // Two records of each of two classes.
  std::shared_ptr<const Task> task() const {
    const auto all = made("embedding[distance=" + std::string(GetParam()) + "]",
                          {.output = {2}, .targets = 1, .class_names = {"a", "b"}});
    std::vector<std::vector<float>> kept;
    for (const std::vector<float>& record : {std::vector<float>{4, 0, 0}, {4, 2, 0}, {0, 2, 1}, {2, 4, 1}})
      kept.push_back(all->judge({std::span(record).first(2), std::span(record).last(1)}).kept);
    return all->settled(kept);
  }
};

TEST_P(Embeddings, AreLedByTheirCentreOverTheNextOne) {
  const auto of = task();
  const std::vector<float> output = {3, 1.5F};
  EXPECT_THAT(of->decide(output).classes, ElementsAre(0));
  expect_decided_holds(*of, output);
  expect_gradients(*of, output, {{0}});
  expect_gradients(*of, output, {{1}});
  EXPECT_EQ(of->judge({output, std::vector<float>{1}}).decided[0], 0);
  EXPECT_LT(of->leads(output, {{1}})[0].value, 0);
  EXPECT_FALSE(of->leads(output, {{1}})[0].holds);
  EXPECT_FALSE(of->needs_all_records());
}

TEST_P(Embeddings, RowsAreGreatestOfTheNearestCentre) {
  const auto of = task();
  const ItemRows rows = of->rows(Array::of<float>({2, 2}, std::vector<float>{3, 1, 1, 4}),
                                 Array::of<float>({2, 1}, std::vector<float>{0, 1}));
  const auto scores = rows.scores.as<float>();
  EXPECT_GT(scores[0], scores[1]);
  EXPECT_LT(scores[2], scores[3]);
  if (std::string(GetParam()) == "euclidean") {
    EXPECT_FLOAT_EQ(scores[0], -1);  // from 3, 1 to 4, 1
    EXPECT_FLOAT_EQ(scores[1], -8);  // to 1, 3
  }
}

INSTANTIATE_TEST_SUITE_P(Distances, Embeddings, ::testing::Values("cosine", "euclidean"));

TEST(EmbeddingTask, NeedsRecordsOfEachClass) {
  const auto all = made("embedding", {.output = {2}, .targets = 1, .class_names = {"a", "b"}});
  const std::vector<std::vector<float>> kept = {{1, 2, 0}, {2, 1, 0}};
  EXPECT_THAT(fault_of([&] { all->settled(kept); }), HasSubstr("records of 1 of 2 classes are there"));
}

}  // namespace
}  // namespace assay::task
