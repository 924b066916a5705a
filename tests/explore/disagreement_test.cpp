// When networks disagree, who is right, and which findings are one.

#include <gtest/gtest.h>

#include <cmath>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/explore/disagreement.h"
#include "assay/explore/duplicates.h"

namespace assay::explore {
namespace {

Array scores(const std::vector<float>& values, std::int64_t outputs) {
  return array::tensor(values).reshape({-1, outputs});
}

TEST(Disagreement, IsAnyTwoNetworksNamingOtherClasses) {
  const Answers answers =
      compare({scores({3, 1, 0, 0, 2, 1, NAN, 0, 1}, 3), scores({2, 0, 1, 0, 1, 2, 1, 0, 0}, 3),
               scores({9, 1, 1, 0, 4, 0, 1, 0, 0}, 3)},
              {});
  EXPECT_EQ(answers.differ, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(answers.finite, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(answers.class_of(1, 1), 2);
  // Leads: 2, 1, 8 of the first record, and 1, 1, 4 of the second.
  EXPECT_FLOAT_EQ(answers.closeness[0], 1);
  EXPECT_FLOAT_EQ(answers.closeness[1], 1);
}

TEST(Disagreement, OfRegressionIsAMarginAndOnRequestOppositeSigns) {
  const std::vector<Array> outputs{scores({0.5F, 0.1F, -0.1F, 0.0F}, 1),
                                   scores({0.75F, 0.15F, 0.2F, 0.3F}, 1)};
  EXPECT_EQ(compare(outputs, {.regression = true}).differ, (std::vector<bool>{true, false, true, true}));
  // 0 has no strict sign to share.
  EXPECT_EQ(compare(outputs, {.regression = true, .margin = 0.2, .opposite_signs = true}).differ,
            (std::vector<bool>{false, false, true, true}));
  EXPECT_NEAR(compare(outputs, {.regression = true}).closeness[0], -0.25, 1e-6);
}

TEST(Disagreement, RefusesNetworksOfDifferentTasks) {
  try {
    compare({scores({1, 2}, 2), scores({1, 2, 3}, 3)}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
  }
}

TEST(Majority, NeedsMoreThanHalfOfAtLeastThree) {
  const Array a = scores({1, 0, 0}, 3), b = scores({0, 1, 0}, 3), c = scores({0, 0, 1}, 3);
  EXPECT_EQ(majority(compare({a, a, b}, {}), 0), 0);
  EXPECT_EQ(majority(compare({a, b, c}, {}), 0), std::nullopt);  // a tie is dropped
  EXPECT_EQ(majority(compare({a, b}, {}), 0), std::nullopt);     // two never vote
  EXPECT_EQ(majority(compare({a, a, b, b}, {}), 0), std::nullopt);
  EXPECT_EQ(majority(compare({a, a, b, c}, {}), 0), std::nullopt);  // half is not more than half
  EXPECT_EQ(majority(compare({b, b, b, c}, {}), 0), 1);
}

TEST(Majority, OfRegressionIsTheMedian) {
  const auto of = [](std::initializer_list<float> values) {
    std::vector<Array> outputs;
    for (const float value : values) outputs.push_back(scores({value}, 1));
    return median(compare(outputs, {.regression = true}), 0);
  };
  EXPECT_FLOAT_EQ(of({0.9F, -0.5F, 0.1F})->front(), 0.1F);
  EXPECT_FLOAT_EQ(of({1, 2, 4, 9})->front(), 3);
  EXPECT_FALSE(of({1, 2}).has_value());
}

TEST(Duplicates, AreNearAndHaveTheSameAnswers) {
  Seen seen(0.1);
  EXPECT_TRUE(seen.add({0, 1}, array::tensor({0.0F, 0.0F, 0.0F, 0.0F})));
  EXPECT_FALSE(
      seen.add({0, 1}, array::tensor({0.199F, 0.0F, 0.0F, 0.0F})));  // root mean square just below 0.1
  EXPECT_TRUE(seen.add({0, 1}, array::tensor({0.21F, 0.0F, 0.0F, 0.0F})));
  EXPECT_TRUE(seen.add({1, 1}, array::tensor({0.0F, 0.0F, 0.0F, 0.0F})));
  EXPECT_TRUE(seen.add({0, 1}, array::tensor({0.0F, 0.0F, 0.0F, 0.9F})));
}

TEST(Duplicates, OfDistanceZeroAreEqual) {
  Seen seen(0);
  EXPECT_TRUE(seen.add({2}, array::tensor({0.5F, 0.25F})));
  EXPECT_FALSE(seen.add({2}, array::tensor({0.5F, 0.25F})));
  EXPECT_TRUE(seen.add({2}, array::tensor({0.25F, 0.5F})));
}

}  // namespace
}  // namespace assay::explore
