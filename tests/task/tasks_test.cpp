// What single records come to under a task: vectors worked by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/random.h>
#include <assay/task.h>
#include "assay/task/ranking.h"
#include "tests/task/made.h"

namespace assay::task {
namespace {

// Three rows of two positions; scores of class 0, then of class 1, then of class 2.
const std::vector<float> three_classes = {5, 0, 0, 0, 1, 1,   //
                                          0, 5, 0, 9, 1, 0,   //
                                          0, 0, 5, 0, 1, 2};  // decided: 0 1 2 1 0 2

TEST(Pixels, CountsClassesAlongTheFirstAxis) {
  const auto task = made("pixels", {.output = {3, 3, 2}, .targets = 6});
  const Sums sums = judged(*task, three_classes, {0, 1, 1, 1, 2, 255});
  EXPECT_EQ(sums.items, 5U);
  EXPECT_EQ(sums.right, 3U);
  EXPECT_EQ(sums.whole, 0U);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "pixel-accuracy"), 3.0 / 5);
  // Class 0: decided at 2, true at 1, both at 1. Class 1: 2, 3, 2. Class 2: 1, 1, 0.
  EXPECT_DOUBLE_EQ(figure(*task, sums, "iou", 0), 1.0 / 2);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "iou", 1), 2.0 / 3);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "iou", 2), 0);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "mean-iou"), (1.0 / 2 + 2.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "dice", 1), 4.0 / 5);
}

TEST(Pixels, ClassesAlongTheLastAxisGiveTheSame) {
  std::vector<float> last(18);
  for (std::size_t p = 0; p < 6; ++p) {
    for (std::size_t c = 0; c < 3; ++c) last[p * 3 + c] = three_classes[c * 6 + p];
  }
  const std::vector<float> labels = {0, 1, 1, 1, 2, 255};
  const auto first = made("pixels", {.output = {3, 3, 2}, .targets = 6});
  const auto back = made("pixels", {.output = {2, 3, 3}, .targets = 6});
  EXPECT_EQ(back->describe(), "pixels: 3 classes along axis 3, 6 positions, label 255 does not count");
  const Judgement a = first->judge({three_classes, labels}), b = back->judge({last, labels});
  EXPECT_EQ(a.decided, b.decided);
  EXPECT_EQ(a.wanted, b.wanted);
}

TEST(Pixels, OneScoreAPositionSaysYesOrNo) {
  const std::vector<float> scores = {0.6F, 0.4F, -1, 2};
  const auto logits = made("pixels", {.output = {1, 2, 2}, .targets = 4});
  EXPECT_EQ(logits->judge({scores, std::vector<float>{1, 1, 0, 0}}).decided,
            (std::vector<std::int64_t>{1, 1, 0, 1}));
  const auto shares = made("pixels", {.output = {1, 2, 2}, .targets = 4, .probabilities = true});
  EXPECT_EQ(shares->judge({scores, std::vector<float>{1, 1, 0, 0}}).decided,
            (std::vector<std::int64_t>{1, 0, 0, 1}));
  const auto own = made("pixels[threshold=0.3]", {.output = {1, 2, 2}, .targets = 4, .probabilities = true});
  EXPECT_EQ(own->judge({scores, std::vector<float>{1, 1, 0, 0}}).decided,
            (std::vector<std::int64_t>{1, 1, 0, 1}));
}

// As the definition says, one position at a time.
std::int64_t first_greatest(const std::vector<float>& output, std::size_t classes, std::size_t positions,
                            std::size_t p) {
  std::size_t best = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    const float score = output[c * positions + p];
    if (std::isnan(score)) return no_class;
    if (score > output[best * positions + p]) best = c;
  }
  return static_cast<std::int64_t>(best);
}

TEST(Pixels, ManyPositionsAreDecidedAsOneAtATime) {
  constexpr std::size_t classes = 5, positions = 613;
  std::vector<float> output(classes * positions), last(output.size());
  Rng random(7);
  for (float& score : output) score = static_cast<float>(random.below(4));  // many are equal
  for (std::size_t p = 3; p < positions; p += 50)
    output[random.below(classes) * positions + p] = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 0; i < output.size(); ++i) last[i % positions * classes + i / positions] = output[i];
  const auto first_axis = made("pixels", {.output = {classes, positions}, .targets = positions});
  const auto last_axis = made("pixels", {.output = {positions, classes}, .targets = positions});
  const Items items = first_axis->decide(output);
  EXPECT_EQ(last_axis->decide(last).classes, items.classes);
  for (std::size_t p = 0; p < positions; ++p)
    EXPECT_EQ(items.classes[p], first_greatest(output, classes, positions, p)) << p;
  // A lead holds for the class that is decided, and for no other.
  for (std::int64_t c = 0; c < std::int64_t{classes}; ++c) {
    const std::vector<Lead> leads = first_axis->leads(output, {std::vector<std::int64_t>(positions, c)});
    for (std::size_t p = 0; p < positions; ++p) EXPECT_EQ(leads[p].holds, items.classes[p] == c) << p;
  }
}

TEST(Pixels, NaNIsNoClassAndWrong) {
  std::vector<float> broken = three_classes;
  broken[0] = std::numeric_limits<float>::quiet_NaN();
  const auto task = made("pixels", {.output = {3, 3, 2}, .targets = 6});
  const Judgement judgement = task->judge({broken, std::vector<float>{0, 1, 2, 1, 0, 2}});
  EXPECT_EQ(judgement.decided[0], no_class);
  EXPECT_EQ(judgement.sums.right, 5U);
}

TEST(Pixels, LabelsAreWholeNumbersOfClasses) {
  const auto task = made("pixels[ignore=none]", {.output = {3, 1, 2}, .targets = 2});
  const std::vector<float> output(6, 0);
  EXPECT_EQ(fault_of([&] {
              judged(*task, output, {0, 1.5F});
            }),
            "label 1.5 at position 1 is not a whole number; give the number of its class");
  EXPECT_EQ(fault_of([&] {
              judged(*task, output, {3, 0});
            }),
            "label 3 at position 0, but the network tells 3 classes apart, from 0 on; give the label of what "
            "does not count as ignore=3");
}

TEST(Pixels, WhatDoesNotFitIsSaid) {
  EXPECT_NE(fault_of([] {
              made("pixels", {.output = {3, 3, 2}, .targets = 7});
            }).find("not a row of scores for each of 7 targets"),
            std::string::npos);
  EXPECT_NE(fault_of([] {
              made("pixels", {.output = {4, 2, 2, 4}, .targets = 16});
            }).find("along axis 1 and along axis 4; give axis=1 or axis=4"),
            std::string::npos);
  EXPECT_EQ(made("pixels[axis=4]", {.output = {4, 2, 2, 4}, .targets = 16})->describe(),
            "pixels: 4 classes along axis 4, 16 positions, label 255 does not count");
  EXPECT_EQ(fault_of([] {
              made("pixels[names=a+b]", {.output = {3, 3, 2}, .targets = 6});
            }),
            "task 'pixels': 2 names for 3 classes");
  EXPECT_NE(fault_of([] {
              made("pixels[threshold=1]", {.output = {3, 3, 2}, .targets = 6});
            }).find("a threshold is for one score a position"),
            std::string::npos);
}

TEST(Tokens, PerplexityIsThatOfTheTrueClasses) {
  const auto task = made("tokens", {.output = {3, 2}, .targets = 3});
  // Probabilities of the true classes: 1/2, 1/(1 + e), and one that does not count.
  const Sums sums = judged(*task, {0, 0, 1, 0, 4, 0}, {1, 1, -100});
  EXPECT_EQ(sums.items, 2U);
  EXPECT_NEAR(figure(*task, sums, "perplexity"), std::exp((std::log(2.0) + std::log1p(std::exp(1.0))) / 2),
              1e-12);
  const auto shares = made("tokens", {.output = {3, 2}, .targets = 3, .probabilities = true});
  const Sums same = judged(*shares, {0.5F, 0.5F, 0.75F, 0.25F, 1, 0}, {1, 1, -100});
  EXPECT_NEAR(figure(*shares, same, "perplexity"), std::exp((std::log(2.0) + std::log(4.0)) / 2), 1e-6);
}

TEST(Tokens, EntitiesAreTypeAndBothEnds) {
  const auto task = made("tokens[names=O+B-PER+I-PER+B-LOC+I-LOC]", {.output = {7, 5}, .targets = 7});
  const auto scores = [](const std::vector<int>& classes) {
    std::vector<float> all;
    for (const int c : classes) {
      for (int k = 0; k < 5; ++k) all.push_back(k == c ? 1.0F : 0.0F);
    }
    return all;
  };
  // True: PER 0-1, LOC 3-3, PER 5-6. Decided: PER 0-1, LOC 3-4 (too long), PER 5-5 and PER 6-6 (cut in two).
  const Sums sums = judged(*task, scores({1, 2, 0, 3, 4, 1, 1}), {1, 2, 0, 3, 0, 1, 2});
  EXPECT_EQ(sums.spans.wanted, 3U);
  EXPECT_EQ(sums.spans.decided, 4U);
  EXPECT_EQ(sums.spans.matched, 1U);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "entity-f1"), 2.0 / 7);
  // I- without B- begins an entity, and a change of type ends one: PER 0-0, LOC 1-2.
  const Sums loose = judged(*task, scores({2, 4, 4, 0, 0, 0, 0}), {1, 3, 4, 0, 0, 0, -100});
  EXPECT_EQ(loose.spans.matched, 2U);
  EXPECT_EQ(loose.spans.decided, 2U);
}

TEST(Labels, CountLabelsAndRecords) {
  const auto task = made("labels[names=cat+dog+sun]", {.output = {3}, .targets = 3, .probabilities = true});
  Sums sums = judged(*task, {0.9F, 0.2F, 0.5F}, {1, 0, 0});
  EXPECT_EQ(sums.whole, 1U);
  sums += judged(*task, {0.1F, 0.8F, 0.7F}, {1, 1, -1});
  EXPECT_EQ(sums.items, 5U);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "exact-match"), 1.0 / 2);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "label-accuracy"), 4.0 / 5);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "micro-f1"), 2.0 * 2 / (2 + 3));
  EXPECT_DOUBLE_EQ(figure(*task, sums, "f1", 0), 2.0 / 3);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "macro-f1"), (2.0 / 3 + 1) / 2);  // the sun never shines
  EXPECT_EQ(fault_of([&] {
              judged(*task, {0, 0, 0}, {0, 0.5F, 0});
            }),
            "label dog is 0.5, which is not 0 or 1; give the number of what is not known as missing=");
}

TEST(Labels, ARecordOfWhichNothingIsKnownDoesNotCount) {
  const auto task = made("labels", {.output = {2}, .targets = 2});
  Sums sums = judged(*task, {1, 1}, {-1, -1});
  EXPECT_EQ(sums.records, 0U);
  EXPECT_EQ(sums.whole, 0U);
  sums += judged(*task, {1, 1}, {1, 1});
  sums += judged(*task, {1, 1}, {1, 0});
  EXPECT_DOUBLE_EQ(figure(*task, sums, "exact-match"), 1.0 / 2);
}

std::optional<double> average_precision(std::vector<RankedItem> items,
                                        const std::vector<std::uint32_t>& times) {
  for (std::size_t i = 0; i < items.size(); ++i) items[i].record = static_cast<std::uint32_t>(i);
  return Ranking(std::move(items)).average_precision(times);
}

TEST(AveragePrecision, TakesEqualScoresTogether) {
  EXPECT_EQ(average_precision({{.score = 1}}, {1}), std::nullopt);
  EXPECT_DOUBLE_EQ(
      *average_precision({{.score = 0.9F, .right = 1}, {.score = 0.8F}, {.score = 0.7F, .right = 1}},
                         {1, 1, 1}),
      (1.0 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(
      *average_precision({{.score = 0.5F, .right = 1}, {.score = 0.5F}, {.score = 0.1F, .right = 1}},
                         {1, 1, 1}),
      (1.0 / 2 + 2.0 / 3) / 2);
}

TEST(AveragePrecision, CountsRecordsAsOftenAsTheyAreDrawn) {
  const std::vector<RankedItem> items = {{.score = 3, .right = 1}, {.score = 2}, {.score = 1, .right = 1}};
  EXPECT_DOUBLE_EQ(*average_precision(items, {1, 2, 1}), (1.0 + 2.0 / 4) / 2);
  EXPECT_DOUBLE_EQ(*average_precision(items, {0, 1, 2}), 2.0 / 3);
  EXPECT_EQ(average_precision(items, {0, 3, 0}), std::nullopt);
}

TEST(Sums, AddUp) {
  const auto task = made("pixels", {.output = {3, 3, 2}, .targets = 6});
  Sums both = judged(*task, three_classes, {0, 1, 1, 1, 2, 255});
  const Sums second = judged(*task, three_classes, {0, 1, 2, 1, 0, 2});
  Sums other = second;
  other += both;
  both += second;
  EXPECT_EQ(both.records, 2U);
  EXPECT_EQ(both.whole, 1U);
  EXPECT_EQ(both.right, other.right);
  EXPECT_EQ(both.classes[1].matched, other.classes[1].matched);
}

}  // namespace
}  // namespace assay::task
