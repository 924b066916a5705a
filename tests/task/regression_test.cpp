// Numbers that are right within a tolerance, worked by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/task/made.h"

namespace assay::task {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Task> regression_of_two(const std::string& options) {
  return made("regression[" + options + "]", {.output = {2}, .targets = 2});
}

TEST(RegressionTask, CountsWhatIsNearItsTarget) {
  const auto task = regression_of_two("tolerance=0.5,names=left+right");
  Sums sums = judged(*task, {1.5F, 9}, {1, 10});  // errors 0.5 and 1
  sums += judged(*task, {2, 7.75F}, {2, 8});      // 0 and 0.25
  EXPECT_DOUBLE_EQ(figure(*task, sums, "within-tolerance"), 3.0 / 4);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "records-within-tolerance"), 1.0 / 2);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "within-tolerance", 0), 1);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "within-tolerance", 1), 1.0 / 2);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "mean-absolute-error"), 1.75 / 4);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "mean-squared-error", 1), (1 + 0.0625) / 2);
  EXPECT_EQ(task->describe(), "regression: 2 targets, right within 0.5");
}

TEST(RegressionTask, AToleranceMayBeAShareOfTheTarget) {
  const auto task = regression_of_two("tolerance=10%");
  EXPECT_EQ(judged(*task, {109, -0.5F}, {100, -1}).right, 1U);
  EXPECT_EQ(judged(*task, {1, 0}, {0, 0}).right, 1U);  // nothing is near 0 but 0
}

TEST(RegressionTask, AnglesAreNearTheOtherWayRound) {
  const auto task = regression_of_two("tolerance=5,wrap=360");
  const Sums sums = judged(*task, {359, 725}, {1, 0});
  EXPECT_EQ(sums.right, 2U);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "mean-absolute-error"), 3.5);
  EXPECT_EQ(judged(*task, {180, 0}, {0, 6}).right, 0U);
  EXPECT_EQ(judged(*regression_of_two("tolerance=5"), {359, 3}, {1, 0}).right, 1U);
}

TEST(RegressionTask, NaNIsNotNear) {
  const auto task = regression_of_two("tolerance=5");
  const Sums sums = judged(*task, {std::numeric_limits<float>::quiet_NaN(), 1}, {1, 2});
  EXPECT_EQ(sums.right, 1U);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "mean-absolute-error"), 1);
}

TEST(RegressionTask, WhatDoesNotFitIsSaid) {
  EXPECT_EQ(made("regression", {.output = {2}, .targets = 2}), nullptr);  // one decision a record
  EXPECT_THAT(fault_of([] { regression_of_two("wrap=360"); }), HasSubstr("wrap= needs a tolerance="));
  EXPECT_THAT(fault_of([] { regression_of_two("tolerance=much"); }),
              HasSubstr("tolerance=much is not a number"));
  EXPECT_THAT(fault_of([] { regression_of_two("tolerance=-1"); }), HasSubstr("tolerance=-1 is not a number"));
  EXPECT_THAT(fault_of([] { regression_of_two("tolerance=1,wrap=0"); }), HasSubstr("wrap=0 is not above 0"));
  EXPECT_THAT(fault_of([] { made("regression[tolerance=1]", {.output = {3}, .targets = 2}); }),
              HasSubstr("[3] a record, which is not one number for each of 2 targets"));
}

}  // namespace
}  // namespace assay::task
