// What makes figures doubtful, from results made by hand.

#include "assay/results/warnings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <assay/graph.h>
#include <assay/results.h>
#include "assay/results/networks/evaluation.h"
#include "tests/support/records.h"

namespace assay::test {
using namespace results;
namespace {

std::vector<std::string> ids(const std::vector<report::Warning>& warnings) {
  std::vector<std::string> found;
  for (const report::Warning& warning : warnings) found.push_back(warning.id);
  return found;
}
using Ids = std::vector<std::string>;

Session classifier(std::int64_t outputs) {
  GraphBuilder build("net");
  const ValueId in = build.input("input", DType::float32, {-1, 2});
  const std::vector<float> weights(static_cast<std::size_t>(2 * outputs), 1.0F);
  build.output(
      build.add("Gemm", "logits", {in, build.constant("w", Array::of<float>({2, outputs}, weights))}));
  return Session(build.build());
}

DatasetPtr named(std::vector<std::string> names) {
  RecordOptions options;
  options.name = "named";
  options.class_names = std::move(names);
  return from_arrays(Array::of<float>({2, 2}, std::vector<float>{0, 1, 2, 3}), {0, 1}, std::move(options));
}

// A softmax over the records, of data and of sample inputs.
TEST(Warnings, SayThatRecordsChangeEachOthersResults) {
  const auto network = [](std::int64_t axis) {
    GraphBuilder build("net");
    const ValueId in = build.input("input", DType::float32, {-1, 2});
    build.output(build.add("Softmax", "softmax", {in}, {{"axis", axis}}));
    return Session(build.build());
  };
  const DatasetPtr data = named({"no", "yes"});
  const auto found = influence_warnings(network(0), data.get());
  ASSERT_EQ(ids(found), Ids{"records-interact"});
  EXPECT_NE(found[0].text.text().find("record '"), std::string::npos) << found[0].text.text();
  EXPECT_EQ(ids(influence_warnings(network(0), nullptr)), Ids{"records-interact"});
  EXPECT_EQ(ids(influence_warnings(network(1), data.get())), Ids{});
  EXPECT_EQ(ids(influence_warnings(network(1), nullptr)), Ids{});
}

TEST(Warnings, ClassesThatDoNotFitTheOutputs) {
  EXPECT_EQ(ids(class_warnings(classifier(2), *named({"cat", "dog"}))), Ids{});
  EXPECT_EQ(ids(class_warnings(classifier(2), *named({"cat", "dog", "eel"}))), Ids{"more-classes"});
  EXPECT_EQ(ids(class_warnings(classifier(4), *named({"cat", "dog", "eel"}))), Ids{"class-folders"});
  EXPECT_EQ(ids(class_warnings(classifier(4), *named({"0", "1", "2"}))), Ids{})
      << "numbers say what they are";
  EXPECT_EQ(ids(class_warnings(classifier(4), *named({"0", "1", "3"}))), Ids{"class-folders"});
  EXPECT_EQ(ids(class_warnings(classifier(1), *named({"no", "yes"}))), Ids{}) << "one output is two classes";
}

TEST(Warnings, AnAccuracyOfGuessing) {
  EXPECT_EQ(ids(accuracy_warnings(0.1, 10)), Ids{"chance"});
  EXPECT_EQ(ids(accuracy_warnings(0.151, 10)), Ids{});
  EXPECT_EQ(ids(accuracy_warnings(0.5, 2)), Ids{}) << "two classes tell too little";
}

TEST(Warnings, TestDataThatAreTrainingDataOrOfAnotherScale) {
  const DatasetPtr test = records({{0, 1}, {0.5F, 0.25F}}, {0, 1});
  coverage::Profile profile;
  profile.data_hash = "other";
  profile.inputs = {100, 0, 1, 0.3};
  coverage::Observations seen;
  const auto found = [&] { return ids(data_warnings(profile, seen, *test)); };
  seen.inputs = {2, 0, 1, 0.4};
  EXPECT_EQ(found(), Ids{});
  seen.inputs = {2, 0, 255, 90};
  EXPECT_EQ(found(), Ids{"scale"});
  seen.inputs = {2, -1, 1, 0};
  EXPECT_EQ(found(), Ids{"scale"}) << "centred";
  seen.inputs = {2, 0, 0.3, 0.1};
  EXPECT_EQ(found(), Ids{}) << "dark records are no other scale";
  seen.inputs = {};
  EXPECT_EQ(found(), Ids{}) << "tokens";
  seen.in_training = 1;
  EXPECT_EQ(found(), Ids{"overlap"});
  profile.data_hash = test->hash();
  EXPECT_EQ(found(), Ids{"same-data"});
}

TEST(Warnings, RelevanceThatIsNothingOrDoesNotArrive) {
  relevance::Importance importance;
  importance.records = importance.used = 10;
  importance.layers.resize(1);
  relevance::LayerImportance& layer = importance.layers[0];
  layer.layer.name = "fc";
  layer.relevance = layer.absolute = {3, 1};
  layer.total_in = 4;
  layer.total_here = 4;
  const auto found = [&] { return ids(importance_warnings(importance)); };
  EXPECT_EQ(found(), Ids{});
  layer.total_here = -9.4;
  EXPECT_EQ(found(), Ids{"conservation"});
  layer.relevance = layer.absolute = {0, 0};
  EXPECT_EQ(found(), Ids{"no-relevance"});
  importance.used = 0;
  EXPECT_EQ(found(), Ids{"no-record-used"});
  importance.evaluation.non_finite = 3;
  EXPECT_EQ(found(), (Ids{"no-record-used", "dropped-records"}));
}

TEST(Evaluations, HaveFiguresForGates) {
  Evaluation evaluation;
  evaluation.accuracy = 0.75;
  evaluation.class_records = {3, 1};
  evaluation.class_correct = {2, 1};
  const auto figures = measurements_of(evaluation, *named({"cat", "dog"}));
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[0].covered + "/" + figures[0].coverable, "3/4");
  EXPECT_EQ(figures[1].class_name, "cat");
  Evaluation regression;
  regression.mean_squared_error = 0.5;
  regression.targets = {{0.25, 0.5, 1}, {0.75, 0.8, 2}};
  const auto errors = measurements_of(regression, *named({}));
  ASSERT_EQ(errors.size(), 7U);
  EXPECT_TRUE(report::evaluate(report::parse_gate("mean-squared-error=0.5"), errors).passed);
  EXPECT_TRUE(report::evaluate(report::parse_gate("greatest-error[target=1]<=2"), errors).passed);
  EXPECT_FALSE(report::evaluate(report::parse_gate("greatest-error<=1.5"), errors).passed) << "of any target";
}

}  // namespace
}  // namespace assay::test
