// Embeddings and the curve of pairs, worked by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <assay/evaluate.h>
#include "assay/task/ranking.h"
#include "tests/task/made.h"

namespace assay::task {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Task> embedding_of_two(const std::string& options) {
  return made("embedding" + options, {.output = {2}, .targets = 1, .class_names = {"a", "b", "c"}});
}

struct Placed {
  std::vector<float> at;
  std::vector<float> of_class;
};

std::unique_ptr<Overall> compared(const Task& task, const std::vector<Placed>& records) {
  std::vector<std::vector<float>> kept;
  for (const Placed& record : records) kept.push_back(task.judge({record.at, record.of_class}).kept);
  return task.overall(std::move(kept));
}

TEST(Embedding, TheNearestCentreLeavesTheRecordOut) {
  const auto task = embedding_of_two("[distance=euclidean]");
  // On a line: a at 0 and 4, b at 5 and 7, c alone at 60. Without itself the second a has its class at 0 and
  // b at 6, which is nearer, and the first b has a at 2 and b at 7.
  const auto all =
      compared(*task, {{{0, 0}, {0}}, {{4, 0}, {0}}, {{5, 0}, {1}}, {{7, 0}, {1}}, {{60, 0}, {2}}});
  EXPECT_EQ(all->judgement(0)->decided[0], 0);
  EXPECT_EQ(all->judgement(1)->decided[0], 1);
  EXPECT_EQ(all->judgement(2)->decided[0], 1);
  EXPECT_EQ(all->judgement(3)->decided[0], 1);
  EXPECT_EQ(all->judgement(4)->wanted[0], no_class);  // no other record is of its class
  EXPECT_EQ(all->judgement(4)->sums.items, 0U);
}

TEST(Embedding, TheCosineDoesNotLookAtLengths) {
  const auto task = embedding_of_two("");
  const auto all = compared(*task, {{{1, 0}, {0}}, {{100, 1}, {0}}, {{0, 2}, {1}}, {{0, 0.1F}, {1}}});
  for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(all->judgement(r)->sums.right, 1U) << r;
  const auto figures = all->figures({.items = 4, .right = 4}, std::vector<std::uint32_t>(4, 1));
  EXPECT_DOUBLE_EQ(value_of(figures, "nearest-centre-accuracy"), 1);
  EXPECT_DOUBLE_EQ(value_of(figures, "pair-roc-auc"), 1);
  EXPECT_DOUBLE_EQ(value_of(figures, "pair-equal-error-rate"), 0);
}

TEST(Embedding, PairsAreRightAtTheThreshold) {
  const auto task = embedding_of_two("[distance=euclidean,threshold=3]");
  const auto all = compared(*task, {{{0, 0}, {0}}, {{4, 0}, {0}}, {{5, 0}, {1}}});
  // Distances: 4 (of one class, refused), 5 (of two, refused), 1 (of two, accepted).
  const auto figures = all->figures({}, std::vector<std::uint32_t>(3, 1));
  EXPECT_DOUBLE_EQ(value_of(figures, "pair-accuracy"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(value_of(figures, "pair-roc-auc"), 1.0 / 2);
  // The third record never, the second twice: two pairs of one class remain.
  const auto others = all->figures({}, std::vector<std::uint32_t>{1, 2, 0});
  EXPECT_DOUBLE_EQ(value_of(others, "pair-accuracy"), 0);
  EXPECT_TRUE(std::isnan(value_of(others, "pair-roc-auc")));
}

TEST(Embedding, NaNIsWrongAndInNoPair) {
  const auto task = embedding_of_two("");
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto all = compared(*task, {{{1, 0}, {0}}, {{1, 1}, {0}}, {{nan, 0}, {0}}});
  EXPECT_EQ(all->judgement(2)->decided[0], no_class);
  EXPECT_EQ(all->judgement(2)->sums.items, 1U);
  EXPECT_EQ(all->judgement(2)->sums.right, 0U);
}

TEST(Embedding, WhatDoesNotFitIsSaid) {
  EXPECT_THAT(fault_of([] { made("embedding", {.output = {2}, .targets = 3}); }),
              HasSubstr("a record has 3 targets, and one is needed, its class"));
  EXPECT_THAT(fault_of([] {
                judged(*embedding_of_two(""), {1, 2}, {3});
              }),
              HasSubstr("label 3 is not the number of one of 3 classes"));
}

TEST(Roc, IsThatOfTheCurve) {
  const std::vector<std::uint32_t> once(4, 1);
  const auto item = [](float score, std::uint32_t record, std::uint32_t right) {
    return RankedItem{.score = score, .record = record, .right = right};
  };
  // Right, wrong, right, wrong: three of four pairs of a right one and a wrong one are in order.
  const auto roc = Ranking({item(4, 0, 1), item(3, 1, 0), item(2, 2, 1), item(1, 3, 0)}).roc(once);
  EXPECT_DOUBLE_EQ(roc->area, 3.0 / 4);
  EXPECT_DOUBLE_EQ(roc->equal_error, 1.0 / 2);
  // All equal: a straight line.
  const auto equal = Ranking({item(1, 0, 1), item(1, 1, 0), item(1, 2, 1), item(1, 3, 1)}).roc(once);
  EXPECT_DOUBLE_EQ(equal->area, 1.0 / 2);
  EXPECT_DOUBLE_EQ(equal->equal_error, 1.0 / 2);
  EXPECT_FALSE(Ranking({item(1, 0, 1), item(2, 1, 1)}).roc(once));
}

}  // namespace
}  // namespace assay::task
