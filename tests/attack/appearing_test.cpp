// Which boxes attacks raise that make one appear, and by how much.

#include "assay/attack/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/task/made.h"

namespace assay::attack {
namespace {

using ::testing::Each;
using ::testing::Gt;

// `count` boxes apart from each other, as rows of corners, one probability and the class 0.
std::vector<float> rows_with(const std::vector<float>& probabilities) {
  std::vector<float> rows;
  for (std::size_t b = 0; b < probabilities.size(); ++b) {
    const float left = 10 * static_cast<float>(b);
    for (const float number : {left, 0.0F, left + 8, 8.0F, probabilities[b], 0.0F}) rows.push_back(number);
  }
  return rows;
}

// By box, of the score.
std::vector<float> raised(const std::vector<float>& probabilities) {
  const auto count = static_cast<std::int64_t>(probabilities.size());
  const std::shared_ptr<const task::Task> task = task::made(
      "boxes[format=yolo10,names=a]",
      {.output = {count, 6}, .targets = 5, .input = {3, 10, 10 * count}, .outputs = {{"out", {count, 6}}}});
  const std::vector<float> output = rows_with(probabilities);
  const auto change = items_appear(task, {task->decide(output)}, 0, 0);
  std::vector<float> gradients(output.size()), of_scores;
  change->differentiate(0, output, 1, gradients);
  for (std::size_t b = 0; b < probabilities.size(); ++b) of_scores.push_back(gradients[6 * b + 4]);
  return of_scores;
}

TEST(Appearing, RaisesTheLikeliestBoxesTogetherByTheirLogarithms) {
  const std::vector<float> gradients = raised({0.1F, 0.2F, 0.05F, 0.01F});
  EXPECT_THAT(gradients, Each(Gt(0)));
  // Of the nearest one a share of its own gradient; of the others by how much less likely they are.
  EXPECT_NEAR(gradients[1], 1.0 / 4, 1e-6);
  EXPECT_NEAR(gradients[0], 2.0 / 4, 1e-6);
  EXPECT_NEAR(gradients[2], 4.0 / 4, 1e-6);
  EXPECT_NEAR(gradients[3], 20.0 / 4, 1e-5);
}

TEST(Appearing, RaisesThirtyOfMany) {
  std::vector<float> probabilities;
  for (int b = 0; b < 50; ++b) probabilities.push_back(0.001F * static_cast<float>(b + 1));
  const std::vector<float> gradients = raised(probabilities);
  EXPECT_EQ(std::ranges::count_if(gradients, [](float one) { return one != 0; }), 30);
  EXPECT_GT(gradients[20], 0);
  EXPECT_EQ(gradients[19], 0);
}

}  // namespace
}  // namespace assay::attack
