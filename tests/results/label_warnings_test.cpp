// What labels, targets and answers say about data and network.

#include "assay/results/label_warnings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <assay/records.h>
#include "assay/engine/evaluation/accuracy_check.h"
#include "assay/results/networks/trained_constants.h"
#include "tests/engine/graphs.h"

namespace assay::results {
namespace {

std::vector<std::string> ids_of(const std::vector<report::Warning>& warnings) {
  std::vector<std::string> ids;
  for (const report::Warning& warning : warnings) ids.push_back(warning.id);
  return ids;
}

using Ids = std::vector<std::string>;

// Four scores that are the inputs.
Session four_scores() {
  test::Net net("four");
  return Session(net.build(net.builder.add("Identity", "scores", {net.input({-1, 4})})));
}

// Class 1 where the only input is above one half.
Session above_half() {
  test::Net net("half");
  GraphBuilder& b = net.builder;
  const ValueId w = b.constant("w", Array::of<float>({1, 2}, std::vector<float>{-1, 1})),
                c = b.constant("c", Array::of<float>({2}, std::vector<float>{0.5F, -0.5F}));
  return Session(net.build(b.add("Gemm", "scores", {net.input({-1, 1}), w, c})));
}

// Record i has its greatest input at i % 4 and the label that `labelled` gives this class.
DatasetPtr records_of(std::size_t count, const std::vector<std::int64_t>& labelled,
                      std::vector<std::string> names = {}) {
  Rng rng(2);
  std::vector<float> inputs;
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t u = 0; u < 4; ++u)
      inputs.push_back(static_cast<float>(rng.uniform()) + (u == i % 4 ? 1.0F : 0.0F));
    labels.push_back(labelled[i % 4]);
  }
  RecordOptions options;
  options.class_names = std::move(names);
  return from_arrays(Array::of<float>({static_cast<std::int64_t>(count), 4}, inputs), labels,
                     std::move(options));
}

std::vector<report::Warning> warnings_of(const Session& session, const DatasetPtr& data) {
  return evaluation_warnings(session, *data, evaluate(session, data, {}, silence()));
}

TEST(LabelWarnings, DataThatFitHaveNone) {
  EXPECT_EQ(ids_of(warnings_of(four_scores(), records_of(40, {0, 1, 2, 3}))), Ids{});
}

TEST(LabelWarnings, ClassesThatAreNumberedOtherwiseAreFound) {
  const auto remedy = [](const std::vector<std::int64_t>& labelled) {
    const auto found = likely_cause(four_scores(), *records_of(40, labelled), {.expected = 1}, 200);
    return found && found->of_labels && found->then == 1 ? found->remedy : std::string();
  };
  EXPECT_EQ(remedy({1, 2, 3, 4}), "labels count from 1: subtract 1");
  EXPECT_EQ(remedy({3, 2, 1, 0}), "classes are in the reverse order");
  EXPECT_EQ(
      remedy({2, 0, 1, 3}),
      "classes are numbered differently: 0 is the network's 1, 1 is the network's 2, 2 is the network's 0");
  EXPECT_EQ(remedy({0, 1, 2, 3}), "");
  const Ids ids = ids_of(warnings_of(four_scores(), records_of(40, {3, 2, 1, 0})));
  EXPECT_EQ(ids, (Ids{"chance", "class-order"}));
}

TEST(LabelWarnings, TwoClassesThatAreSwappedAreFound) {
  const Session session = above_half();
  const DatasetPtr data =
      from_arrays(Array::of<float>({12, 1}, std::vector<float>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}),
                  {1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0});
  EXPECT_EQ(ids_of(warnings_of(session, data)), Ids{"class-order"});
}

TEST(LabelWarnings, InputsUpTo255OfANetworkForInputsUpTo1AreFound) {
  std::vector<float> inputs;
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 60; ++i) {
    inputs.push_back(static_cast<float>(4 * i + 10));
    labels.push_back(4 * i + 10 > 127 ? 1 : 0);
  }
  const std::vector<report::Warning> warnings =
      warnings_of(above_half(), from_arrays(Array::of<float>({60, 1}, inputs), labels));
  EXPECT_EQ(ids_of(warnings), (Ids{"one-answer", "preparation"}));
  EXPECT_NE(warnings[1].text.text().find("divide the values by 255"), std::string::npos)
      << warnings[1].text.text();
}

// Scores that grow with the inputs: the answers are the same, the activations 255 times as large.
TEST(LabelWarnings, InputsUpTo255AreSaidWhereTheAccuracyIsTheSame) {
  std::vector<float> inputs;
  Rng rng(2);
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < 40; ++i) {
    for (std::int64_t u = 0; u < 4; ++u)
      inputs.push_back(u == i % 4 ? 250.0F : static_cast<float>(rng.below(100)));
    labels.push_back(i % 4);
  }
  const Array large = Array::of<float>({40, 4}, inputs);
  const std::vector<report::Warning> found = warnings_of(four_scores(), from_arrays(large, labels));
  ASSERT_EQ(ids_of(found), Ids{"preparation"});
  EXPECT_NE(found[0].text.text().find("inputs reach 255"), std::string::npos) << found[0].text.text();
  EXPECT_EQ(ids_of(warnings_of(four_scores(), from_arrays(large))), Ids{"preparation"});
}

// One that was trained on 0 to 255 takes all of them, divided, for class 0.
TEST(LabelWarnings, ANetworkForInputsUpTo255MayHaveThem) {
  test::Net net("half of 255");
  GraphBuilder& b = net.builder;
  const ValueId w = b.constant("w", Array::of<float>({1, 2}, std::vector<float>{-1, 1})),
                c = b.constant("c", Array::of<float>({2}, std::vector<float>{127, -127}));
  const Session wide(net.build(b.add("Gemm", "scores", {net.input({-1, 1}), w, c})));
  std::vector<float> ramp;
  std::vector<std::int64_t> halves;
  for (int i = 0; i < 60; ++i) {
    ramp.push_back(static_cast<float>(4 * i + 10));
    halves.push_back(4 * i + 10 > 127 ? 1 : 0);
  }
  EXPECT_EQ(ids_of(warnings_of(wide, from_arrays(Array::of<float>({60, 1}, ramp), halves))), Ids{});
}

// By hand: rows take columns 1, 2, 0 (5 + 4 + 3); the greedy 9 in row 0 would leave 0 and 1.
TEST(LabelWarnings, TheBestRenumberingIsNotTheGreedyOne) {
  EXPECT_EQ(best_renumbering({{0, 5, 0}, {0, 0, 4}, {3, 0, 0}}), (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_EQ(best_renumbering({{9, 8, 0}, {8, 0, 0}, {0, 0, 1}}), (std::vector<std::size_t>{1, 0, 2}));
}

TEST(LabelWarnings, ClassesWithoutRecordsAndOneAnswerAreSaid) {
  const DatasetPtr data = records_of(40, {0, 1, 1, 3}, {"a", "b", "c", "d"});
  const std::vector<report::Warning> warnings = absent_class_warnings(*data, 4);
  EXPECT_EQ(ids_of(warnings), Ids{"absent-classes"});
  EXPECT_NE(warnings[0].text.text().find("1 of 4 classes without a record: c"), std::string::npos)
      << warnings[0].text.text();
  std::vector<std::int64_t> answers(40, 3);
  EXPECT_EQ(ids_of(answer_warnings(answers, *data)), Ids{"one-answer"});
  EXPECT_TRUE(answer_warnings(answers, *records_of(40, {3, 3, 3, 3})).empty());
  answers[5] = 0;
  EXPECT_TRUE(answer_warnings(answers, *data).empty());
}

TEST(LabelWarnings, ALowTrainingAccuracyLiesBelowTheMiddle) {
  EXPECT_EQ(ids_of(training_accuracy_warnings(0.54, 10, "")), Ids{"training-accuracy"});
  EXPECT_TRUE(training_accuracy_warnings(0.56, 10, "").empty());
  EXPECT_EQ(ids_of(training_accuracy_warnings(0.74, 2, "")), Ids{"training-accuracy"});
  EXPECT_TRUE(training_accuracy_warnings(0.1, 0, "").empty());
}

TEST(LabelWarnings, OtherNamesOfClassesAreSaid) {
  const DatasetPtr data = records_of(8, {0, 1, 2, 3}, {"ant", "cat", "dog", "elk"});
  EXPECT_TRUE(class_name_warnings({"ant", "cat", "dog", "elk"}, *data).empty());
  const std::vector<report::Warning> warnings =
      class_name_warnings({"ant", "bee", "cat", "dog", "elk"}, *data);
  EXPECT_EQ(ids_of(warnings), Ids{"class-names"});
  EXPECT_NE(warnings[0].text.text().find("1 is 'bee' and 'cat'"), std::string::npos)
      << warnings[0].text.text();
}

TEST(LabelWarnings, TargetsOfZerosAndOnesAndWholeNumbersOfARegressionAreSaid) {
  RecordOptions options;
  options.targets = Array::of<float>({4, 1}, std::vector<float>{0, 1, 1, 0});
  const Array inputs = Array::of<float>({4, 1}, std::vector<float>{0, 1, 2, 3});
  test::Net net("one");
  const Session session(net.build(net.dense("fc", net.input({-1, 1}), 1, 1)));
  EXPECT_EQ(ids_of(task_warnings(session, *from_arrays(inputs, {}, options))), Ids{"binary-targets"});
  options.targets = Array::of<float>({4, 1}, std::vector<float>{0, 1, 2, 0});
  EXPECT_TRUE(task_warnings(session, *from_arrays(inputs, {}, options)).empty());
  EXPECT_EQ(ids_of(task_warnings(session, *from_arrays(inputs, {3, 17, 9, 4}))), Ids{"numbers-as-classes"});
  EXPECT_TRUE(task_warnings(session, *from_arrays(inputs, {0, 1, 1, 0})).empty());
}

TEST(LabelWarnings, ALastBatchOfOneRecordOfABatchNormalisationIsSaid) {
  test::Net net("normalised");
  const ValueId x = net.batch_norm("bn", net.input({-1, 4}), 4);
  const Graph graph = net.build(net.dense("fc", x, 4, 2)), plain = test::lenet_like();
  EXPECT_EQ(ids_of(last_batch_warnings(graph, 33, 32)), Ids{"batch-of-one"});
  EXPECT_TRUE(last_batch_warnings(graph, 34, 32).empty());
  EXPECT_TRUE(last_batch_warnings(graph, 33, 1).empty());
  EXPECT_TRUE(last_batch_warnings(plain, 33, 32).empty());
}

}  // namespace
}  // namespace assay::results
