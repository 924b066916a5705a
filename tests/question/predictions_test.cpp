#include <assay/evaluate.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include <assay/model.h>
#include <assay/records.h>
#include <assay/training.h>
#include "assay/data/files/numpy.h"
#include "assay/support/files/file.h"

namespace assay::frame {
namespace {

std::filesystem::path place(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / name;
}

TEST(Predictions, AreThoseOfTheEvaluation) {
  const Session session(training::initialise(training::build_architecture("lenet1"), "keras", 1));
  const DatasetPtr digits = open_dataset("digits:17");
  WalkOptions options;
  options.batch = 5;
  const Predictions said = predict(session, digits, options, silence());
  const Evaluation evaluation = evaluate(session, digits, {}, silence());
  EXPECT_EQ(said.evaluation.predictions, evaluation.predictions);
  EXPECT_EQ(said.outputs.shape(), (Shape{17, 10}));
  for (std::size_t i = 0; i < 17; ++i) {
    const auto row = said.outputs.as<float>().subspan(10 * i, 10);
    EXPECT_EQ(std::ranges::max_element(row) - row.begin(), said.evaluation.predictions[i]);
    EXPECT_EQ(said.labels[i], digits->label(i));
  }

  write_predictions(place("said.npz"), said);
  const auto arrays = read_npz(place("said.npz"));
  EXPECT_TRUE(std::ranges::equal(arrays.at("predicted").as<std::int64_t>(), said.evaluation.predictions));
  EXPECT_EQ(arrays.at("outputs").shape(), said.outputs.shape());
  write_predictions(place("said.csv"), said);
  const std::string table = read_file(place("said.csv"));
  EXPECT_TRUE(table.starts_with("id,label,predicted,output_0,")) << table;
  EXPECT_EQ(std::ranges::count(table, '\n'), 18);
}

TEST(Predictions, AndEvaluationAreOfOnePass) {
  const DatasetPtr digits = open_dataset("digits:17");
  std::atomic<std::size_t> read{0};
  const DatasetPtr counted = from_function(digits->facts(), [&](std::size_t i, Record& record) {
    const Batch one = digits->read(std::span(&i, 1));
    std::ranges::copy(one.inputs.as<float>(), record.inputs[0].values.begin());
    record.label = one.labels[0];
    ++read;
  });
  const Session session(training::initialise(training::build_architecture("lenet1"), "keras", 1));
  read = 0;
  const Evaluation said = predict(session, counted, {}, silence()).evaluation;
  EXPECT_EQ(read, 17u);
  const Evaluation alone = evaluate(session, digits, {}, silence());
  EXPECT_EQ(said.accuracy, alone.accuracy);
  EXPECT_EQ(said.class_correct, alone.class_correct);
  EXPECT_EQ(said.records, alone.records);
}

TEST(Predictions, OfRegressionHaveTargets) {
  const DatasetPtr numbers =
      from_function({.size = 3, .record_shape = {2}, .target_width = 1},
                    [](std::size_t i, Record& record) { record.targets[0] = static_cast<float>(i); });
  GraphBuilder build("sum");
  const ValueId x = build.input("x", DType::float32, {-1, 2});
  build.output(build.add("MatMul", "dense",
                         {x, build.constant("w", Array::of<float>({2, 1}, std::vector<float>{1, 1}))}));
  const Session session(build.build());
  const Predictions said = predict(session, numbers, {}, silence());
  EXPECT_TRUE(said.evaluation.predictions.empty());
  EXPECT_EQ(said.targets.shape(), (Shape{3, 1}));
  write_predictions(place("numbers.csv"), said);
  EXPECT_EQ(read_file(place("numbers.csv")), "id,target_0,output_0\n0,0,0\n1,1,0\n2,2,0\n");
}

}  // namespace
}  // namespace assay::frame
