// Boxes: overlap, suppression, matching, the forms of detectors and average precision, worked by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>

#include <assay/extend/random.h>
#include "assay/task/detection.h"
#include "assay/task/ranking.h"
#include "tests/task/made.h"

namespace assay::task {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Overlap, IsIntersectionOverUnion) {
  EXPECT_DOUBLE_EQ(overlap({0, 0, 4, 2}, {2, 1, 6, 3}), 2.0 / (8 + 8 - 2));
  EXPECT_DOUBLE_EQ(overlap({0, 0, 4, 2}, {0, 0, 4, 2}), 1);
  EXPECT_DOUBLE_EQ(overlap({0, 0, 4, 2}, {4, 0, 6, 2}), 0);
  EXPECT_DOUBLE_EQ(overlap({0, 0, 0, 0}, {0, 0, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(overlap({4, 2, 0, 0}, {0, 0, 4, 2}), 0);  // its sides are the wrong way round
}

TEST(Suppression, HidesLowerOnesThatOverlapMore) {
  const std::vector<Detection> all = {
      {{0, 0, 10, 8}, 0, 0.5F}, {{0, 0, 10, 10}, 0, 0.9F}, {{0, 0, 10, 5}, 0, 0.7F}};
  const auto scores = [&](double threshold, std::size_t most) {
    std::vector<float> left;
    for (const Detection& one : suppressed(all, threshold, most)) left.push_back(one.score);
    return left;
  };
  // Overlaps with the first: 0.5 and 0.8; of the two others: 5/8.
  EXPECT_THAT(scores(0.4, 9), ElementsAre(0.9F));
  EXPECT_THAT(scores(0.5, 9), ElementsAre(0.9F, 0.7F));  // by more than the threshold
  EXPECT_THAT(scores(0.9, 9), ElementsAre(0.9F, 0.7F, 0.5F));
  EXPECT_THAT(scores(1, 2), ElementsAre(0.9F, 0.7F));
}

TEST(Suppression, IsThatOfComparingAllPairs) {
  Rng random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Detection> all;
    for (std::size_t d = 0; d < 80; ++d) {
      const double left = random.uniform(0, 20), top = random.uniform(0, 20);
      // Of few different scores, so that equal ones occur.
      all.push_back({{left, top, left + random.uniform(-1, 15), top + random.uniform(-1, 15)},
                     0,
                     static_cast<float>(random.below(20)),
                     d});
    }
    std::vector<Detection> ordered = all;
    std::ranges::stable_sort(ordered, std::greater<>(), &Detection::score);
    std::vector<std::size_t> wanted, found;
    std::vector<Detection> kept;
    for (const Detection& one : ordered) {
      const bool hidden = std::ranges::any_of(
          kept, [&](const Detection& other) { return overlap(one.box, other.box) > 0.3; });
      if (hidden || kept.size() == 30) continue;
      kept.push_back(one);
      wanted.push_back(one.source);
    }
    for (const Detection& one : suppressed(all, 0.3, 30)) found.push_back(one.source);
    EXPECT_EQ(found, wanted);
  }
}

TEST(Matching, TakesTheBestThatIsFree) {
  const std::vector<WantedBox> wanted = {{{0, 0, 10, 10}}, {{0, 0, 10, 8}}};
  const std::vector<Detection> found = {
      {{0, 0, 10, 8.5}, 0, 0.9F}, {{0, 0, 10, 8}, 0, 0.8F}, {{0, 0, 10, 9}, 0, 0.7F}};
  // The first overlaps 0.85 and 0.94, the second 0.8 and (taken) 1.
  EXPECT_THAT(Matching(found, wanted).at(0.5), ElementsAre(1, 0, -1));
  EXPECT_THAT(Matching(found, wanted).at(0.85), ElementsAre(1, -1, 0));
  EXPECT_THAT(Matching(found, wanted).at(0.97), ElementsAre(-1, 1, -1));
}

TEST(Matching, AnIgnoredRegionTakesWhatNothingElseDoes) {
  const std::vector<WantedBox> wanted = {{{0, 0, 100, 100}, 0, true}, {{0, 0, 10, 10}}};
  const std::vector<Detection> found = {{{0, 0, 10, 9}, 0, 0.9F},
                                        {{0, 0, 10, 10}, 0, 0.8F},
                                        {{90, 0, 110, 10}, 0, 0.7F},
                                        {{96, 0, 106, 10}, 0, 0.6F}};
  EXPECT_THAT(Matching(found, wanted).at(0.5), ElementsAre(1, 0, 0, -1));
}

TaskSubject boxes_of_yolo(std::int64_t classes, std::int64_t boxes, std::size_t labels) {
  return {.output = {4 + classes, boxes},
          .targets = 5 * labels,
          .input = {3, 100, 200},
          .outputs = {{"output0", {4 + classes, boxes}}}};
}

// One label a row: class, left, top, right, bottom.
const std::vector<float> two_labels = {0, 0, 0, 10, 10, 1, 20, 20, 40, 40};

TEST(Boxes, YoloV8HasAColumnABox) {
  const auto task = made("boxes", boxes_of_yolo(2, 7, 2));
  EXPECT_THAT(task->describe(),
              HasSubstr("boxes: yolo8 (cxcywh in pixels, suppressed above 0.7, outputs output0), 2"));
  EXPECT_THAT(task->outputs(), ElementsAre("output0"));
  // A right one of each class; the first once more, hidden; the second called by the first class's name.
  const std::vector<float> output = {5,    5,    30,   100,  0, 0, 0,   // middles
                                     5,    5,    30,   50,   0, 0, 0,   //
                                     10,   10,   20,   8,    1, 1, 1,   // sides
                                     10,   9,    20,   8,    1, 1, 1,   //
                                     0.9F, 0.8F, 0.3F, 0,    0, 0, 0,   // of class 0
                                     0,    0,    0.6F, 0.7F, 0, 0, 0};  // of class 1
  const JudgedRecord record{output, two_labels};
  const Judgement judgement = task->judge(record);
  EXPECT_EQ(judgement.sums.right, 2U);
  EXPECT_EQ(judgement.sums.items, 4U);
  EXPECT_EQ(judgement.sums.classes[0].decided, 2U);
  EXPECT_EQ(judgement.sums.classes[1].decided, 2U);
  EXPECT_EQ(judgement.sums.classes[1].matched, 1U);
  const std::vector<Figure> found = overall(*task, {record});
  EXPECT_DOUBLE_EQ(value_of(found, "precision"), 2.0 / 4);
  EXPECT_DOUBLE_EQ(value_of(found, "recall"), 1);
  EXPECT_DOUBLE_EQ(value_of(found, "f1", 1), 2.0 / 3);
  EXPECT_DOUBLE_EQ(value_of(found, "average-precision", 0), 1);
  EXPECT_DOUBLE_EQ(value_of(found, "average-precision", 1), 0.5);  // one that is wrong comes first
  EXPECT_DOUBLE_EQ(value_of(found, "mean-average-precision"), 0.75);
  EXPECT_DOUBLE_EQ(value_of(found, "mean-average-precision-50"), 0.75);
}

TEST(Boxes, ConfuseMissAndInvent) {
  const auto task = made("boxes[format=yolo8,nms=none]", boxes_of_yolo(2, 6, 3));
  // Class 1 where 0 is; nothing where 1 is; class 0 where nothing is; an ignored region with a detection.
  const std::vector<float> output = {5,    100,  60,   0, 0, 0,  //
                                     5,    50,   60,   0, 0, 0,  //
                                     10,   8,    10,   0, 0, 0,  //
                                     10,   8,    10,   0, 0, 0,  //
                                     0,    0.5F, 0.4F, 0, 0, 0,  //
                                     0.9F, 0,    0,    0, 0, 0};
  const std::vector<float> labels = {0, 0, 0, 10, 10, 1, 20, 20, 40, 40, -2, 50, 50, 90, 90};
  const Judgement judgement = task->judge({output, labels});
  // -1: the ignored region, which does not count; 2: the background.
  EXPECT_THAT(judgement.wanted, ElementsAre(-1, 0, 2, 1));
  EXPECT_THAT(judgement.decided, ElementsAre(2, 1, 0, 2));
  EXPECT_EQ(judgement.sums.items, 3U);
  EXPECT_EQ(judgement.sums.right, 0U);
  EXPECT_THAT(task->class_names(), ElementsAre("0", "1", "background"));
}

// The same two boxes in every form that is known.
void expect_two_right(const std::string& spec, const std::vector<TaskOutput>& outputs,
                      const std::vector<std::vector<float>>& values) {
  SCOPED_TRACE(spec);
  const auto task =
      made(spec, {.output = outputs[0].shape, .targets = 10, .input = {3, 100, 200}, .outputs = outputs});
  JudgedRecord record{values[0], two_labels};
  for (std::size_t i = 1; i < values.size(); ++i) record.others.emplace_back(values[i]);
  const Judgement judgement = task->judge(record);
  EXPECT_EQ(judgement.sums.items, 2U);
  EXPECT_EQ(judgement.sums.right, 2U);
}

TEST(Boxes, ComeInManyForms) {
  expect_two_right("boxes[format=yolo5]", {{"o", {8, 7}}},
                   {{5,  5,  10, 10, 0.9F, 0.8F, 0.1F, 30, 30, 20, 20, 0.9F, 0.1F, 0.8F,  //
                     90, 50, 10, 10, 0.2F, 1,    1,    0,  0,  1,  1,  0,    1,    1,     //
                     0,  0,  0,  0,  0,    0,    0,    0,  0,  0,  0,  0,    0,    0,     //
                     0,  0,  0,  0,  0,    0,    0,    0,  0,  0,  0,  0,    0,    0}});
  expect_two_right("boxes[format=yolo10,names=a+b]", {{"o", {1, 3, 6}}},
                   {{0, 0, 10, 10, 0.9F, 0, 20, 20, 40, 40, 0.8F, 1, 0, 0, 0, 0, 0, 7}});
  const TaskOutput boxes{"b", {3, 4}}, scores{"s", {3, 3}};
  expect_two_right("boxes[format=ssd]", {scores, boxes},
                   {{0, 0, 0.05F, 0.1F, 0.1F, 0.2F, 0.2F, 0.4F, 0.9F, 0.9F, 1, 1},  //
                    {0.1F, 0.9F, 0, 0.1F, 0, 0.9F, 0.9F, 0.05F, 0.05F}});
  expect_two_right("boxes[format=retinanet,score=sigmoid]", {boxes, {"s", {3, 2}}},
                   {{0, 0, 10, 10, 20, 20, 40, 40, 90, 90, 99, 99}, {2, -3, -3, 2, -3, -4}});
  expect_two_right(
      "boxes[format=detr]", {{"logits", {3, 3}}, {"pred_boxes", {3, 4}}},
      {{0.025F, 0.05F, 0.05F, 0.1F, 0.15F, 0.3F, 0.1F, 0.2F, 0.5F, 0.5F, 1, 1}, {9, 0, 0, 0, 9, 0, 0, 3, 9}});
  expect_two_right("boxes[format=torchvision,names=a+b]",
                   {{"boxes", {2, 4}}, {"labels", {2}, true}, {"scores", {2}}},
                   {{0, 0, 10, 10, 20, 20, 40, 40}, {1, 2}, {0.9F, 0.8F}});
  expect_two_right("boxes[format=tensorflow,names=a+b]",
                   {{"detection_boxes", {2, 4}},
                    {"detection_classes", {2}},
                    {"detection_scores", {2}},
                    {"num_detections", {}}},
                   {{0, 0, 0.1F, 0.05F, 0.2F, 0.1F, 0.4F, 0.2F}, {1, 2}, {0.9F, 0.8F}});
  expect_two_right("boxes[format=yolo5,parts=skip+number+score+box,boxes=xywh,first=1,names=a+b]",
                   {{"o", {2, 7}}}, {{0, 1, 0.9F, 0, 0, 10, 10, 0, 2, 0.8F, 20, 20, 20, 20}});
}

TEST(Boxes, PartsWithoutAFormatAreCornersAndNothingIsSuppressed) {
  const TaskSubject subject{.targets = 5, .input = {3, 64, 64}, .outputs = {{"o", {2, 7}}}};
  const auto task = made("boxes[parts=skip+number+score+box,names=a+b]", subject);
  EXPECT_THAT(task->describe(), HasSubstr("parts= (xyxy in pixels, outputs o)"));
  const std::vector<float> same = {0, 1, 0.9F, 0, 0, 10, 10, 0, 1, 0.8F, 0, 0, 10, 10};
  EXPECT_EQ(judged(*task, same, {1, 0, 0, 10, 10}).classes[1].decided, 2U);
}

TEST(Boxes, NaNIsNoDetection) {
  const auto task = made("boxes", boxes_of_yolo(1, 6, 1));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> output = {5, nan, 5, 0,  0,  0,  5, 5, 5, 0,   0,    0,    10, 10, 10,
                                     0, 0,   0, 10, 10, 10, 0, 0, 0, nan, 0.9F, 0.8F, 0,  0,  0};
  EXPECT_EQ(judged(*task, output, {0, 0, 0, 10, 10}).classes[0].decided, 1U);
}

// Outputs of another number of boxes for each record are filled up by rows of -1, whose product of objectness
// and score would be 1.
TEST(Boxes, ARowThatOnlyFillsIsNoDetection) {
  const std::vector<float> output = {0,  0,  10, 10, 0.9F, 0.8F,  //
                                     -1, -1, -1, -1, -1,   -1};
  for (const std::string nms : {"0.7", "none"}) {
    const auto task =
        made("boxes[format=yolo5,boxes=xyxy,nms=" + nms + "]",
             {.output = {2, 6}, .targets = 5, .input = {3, 100, 200}, .outputs = {{"o", {2, 6}}}});
    EXPECT_EQ(judged(*task, output, {0, 0, 0, 10, 10}).classes[0].decided, 1U);
  }
}

TEST(Boxes, LabelsThatAreWrongAreNamed) {
  const auto task = made("boxes", boxes_of_yolo(2, 7, 1));
  const std::vector<float> output(42, 0);
  const auto said = [&](const std::vector<float>& label) {
    return fault_of([&] { judged(*task, output, label); });
  };
  EXPECT_THAT(said({2, 0, 0, 1, 1}), HasSubstr("box 0 is of class 2, but the network tells 2 classes apart"));
  EXPECT_THAT(said({-4, 0, 0, 1, 1}), HasSubstr("box 0 is of class 2"));
  EXPECT_THAT(said({0.5F, 0, 0, 1, 1}), HasSubstr("box 0 is of class 0.5"));
  EXPECT_THAT(said({0, 0, 0, 300, 1}),
              HasSubstr("box 0 from 0, 0 to 300, 1 is outside of the picture, 200 wide"));
  EXPECT_THAT(said({0, 5, 0, 1, 1}), HasSubstr("is none; give left, top, right, bottom"));
  EXPECT_EQ(said({-1, -1, -1, -1, -1}), "nothing");
}

TEST(Boxes, WhatDoesNotFitIsSaid) {
  const auto said = [](const std::string& spec, TaskSubject subject) {
    return fault_of([&] { made(spec, subject); });
  };
  TaskSubject odd = boxes_of_yolo(2, 7, 1);
  odd.targets = 7;
  EXPECT_THAT(said("boxes", odd),
              HasSubstr("7 targets a record are not rows of class, left, top, right, bottom"));
  const std::vector<TaskOutput> six = {{"o", {300, 6}}};
  EXPECT_THAT(said("boxes", {.targets = 5, .outputs = six}), HasSubstr("give format=yolo10 or yolo5"));
  EXPECT_THAT(said("boxes[format=yolo10]", {.targets = 5, .outputs = six}),
              HasSubstr("name all as names=cat+dog"));
  EXPECT_THAT(said("boxes[format=detr]", {.targets = 5, .outputs = {{"a", {9, 4}}, {"b", {9, 3}}}}),
              HasSubstr("give size=HEIGHTxWIDTH"));
  EXPECT_THAT(said("boxes[format=ssd,size=9x9]", {.targets = 5, .outputs = {{"a", {9, 4}}, {"b", {9, 4}}}}),
              HasSubstr("2 outputs may hold the part 'box'; name one for each part"));
  EXPECT_THAT(said("boxes[format=ssd,size=9x9]", {.targets = 5, .outputs = {{"a", {9, 5}}}}),
              HasSubstr("no output holds the part 'box' as ssd has it"));
  EXPECT_THAT(said("boxes[format=yolo9]", boxes_of_yolo(2, 7, 1)), HasSubstr("format=yolo9 is none of"));
  EXPECT_THAT(said("boxes[parts=box+score]", boxes_of_yolo(2, 7, 1)),
              HasSubstr("needs one box, and scores or"));
  EXPECT_THAT(said("boxes[nms=2]", boxes_of_yolo(2, 7, 1)), HasSubstr("nms=2 is not a number from 0 to 1"));
  EXPECT_THAT(said("boxes[iou=0]", boxes_of_yolo(2, 7, 1)), HasSubstr("iou=0 is not above 0"));
  const auto numbered = made("boxes[format=yolo10,names=a+b]", {.targets = 5, .outputs = six});
  EXPECT_THAT(fault_of([&] {
                judged(*numbered, {0, 0, 1, 1, 0.9F, 2}, {0, 0, 0, 1, 1});
              }),
              HasSubstr("names class 2 (number 2 of its output), and there are 2 classes"));
}

TEST(InterpolatedPrecision, IsTheMeanOverRecalls) {
  // Right, wrong, right of three: recall 1/3 with precision 1, recall 2/3 with precision 2/3.
  const Ranking ranking(
      {{.score = 3, .right = 1}, {.score = 2, .record = 1}, {.score = 1, .record = 2, .right = 1}});
  const std::vector<std::uint32_t> once = {1, 1, 1};
  EXPECT_NEAR(ranking.interpolated_precision(0, 3, once), (34 * 1.0 + 33 * 2.0 / 3) / 101, 1e-12);
  // The first twice, the second never: precision 1 down to the end.
  EXPECT_NEAR(ranking.interpolated_precision(0, 3, std::vector<std::uint32_t>{2, 0, 1}), 1, 1e-12);
  // What does not count is passed over.
  EXPECT_EQ(Ranking({{.score = 1, .right = 0, .counted = 0}}).interpolated_precision(0, 1, once), 0);
}

// A picture of 2 x 3 cells of 8 pixels and one of 16 x 2: cells are numbered by grid, row and column.
TEST(Boxes, MayBelongToCellsOfGrids) {
  const TaskSubject subject{.output = {8, 6}, .targets = 5, .input = {3, 16, 24}, .outputs = {{"o", {8, 6}}}};
  const auto task = made("boxes[format=yolox,strides=8+16,names=a]", subject);
  std::vector<float> output(8 * 6);
  const auto put = [&](std::size_t box, const std::vector<float>& numbers) {
    std::ranges::copy(numbers, output.begin() + static_cast<std::ptrdiff_t>(box) * 6);
  };
  put(4, {0.5F, 0.25F, std::log(2.0F), 0, 0.9F, 1});  // second row, second column: 4..20 by 6..14
  put(7, {0, 0.5F, 0, 0, 0.8F, 1});                   // 16 x 16 in the second cell: 8..24 by 0..16
  const auto right = [&](const std::vector<float>& label) { return task->judge({output, label}).sums.right; };
  EXPECT_EQ(right({0, 4, 6, 20, 14}), 1U);
  EXPECT_EQ(right({0, 8, 0, 24, 16}), 1U);
  EXPECT_EQ(right({0, 0, 0, 8, 8}), 0U);
  EXPECT_THAT(fault_of([&] { made("boxes[format=yolox]", subject); }),
              HasSubstr("and output 'o' holds 8 boxes"));
  EXPECT_THAT(fault_of([&] { made("boxes[format=yolo5,strides=8]", subject); }),
              HasSubstr("belong together"));
}

// An anchor of 4 x 2 with its middle at 4, 3 and one of 2 x 2 at 9, 9; the factors of SSD are 0.1 and 0.2.
TEST(Boxes, MayBeOffsetsFromAnchors) {
  const std::string file = ::testing::TempDir() + "/assay_anchors.csv";
  std::ofstream(file) << "2,2,6,4\n8 8 10 10\r\n";
  const TaskSubject subject{
      .output = {2, 4}, .targets = 5, .input = {3, 20, 20}, .outputs = {{"loc", {2, 4}}, {"conf", {2, 2}}}};
  const std::string options = "format=ssd,normalised=no,score=softmax,names=a,boxes=offsets,anchors=" + file;
  const auto task = made("boxes[" + options + "]", subject);
  // 4 + 5 * 0.1 * 4 = 6 and 3 + 0; sides 4 * 2 and 2: 2..10 by 2..4. The second stays where it is.
  const std::vector<float> boxes = {5, 0, std::log(2.0F) / 0.2F, 0, 0, 0, 0, 0}, scores = {0, 9, 0, 8};
  const auto right = [&](const std::vector<float>& label) {
    return task->judge({.output = boxes, .targets = label, .others = {scores}}).sums.right;
  };
  EXPECT_EQ(right({0, 2, 2, 10, 4}), 1U);
  EXPECT_EQ(right({0, 8, 8, 10, 10}), 1U);
  EXPECT_EQ(right({0, 2, 2, 5, 4}), 0U);
  const Items items =
      task->decide(std::vector<float>{5, 0, std::log(2.0F) / 0.2F, 0, 0, 0, 0, 0, 0, 9, 0, 8});
  ASSERT_EQ(items.classes.size(), 2U);
  EXPECT_NEAR(items.place(0)[2], 10, 1e-4);
  const auto said = [&](const std::string& text) {
    return fault_of([&] { made("boxes[" + text + "]", subject); });
  };
  EXPECT_THAT(said(options + ",variances=1"), HasSubstr("not two factors above 0"));
  EXPECT_THAT(said("format=ssd,variances=1+1"), HasSubstr("no effect without boxes=offsets"));
  EXPECT_THAT(said("format=ssd,boxes=offsets"), HasSubstr("belong together"));
  std::ofstream(file) << "2,2,6,4\n";
  EXPECT_THAT(said(options), HasSubstr("holds 1 anchors, and output 'loc' holds 2 boxes"));
  std::ofstream(file) << "2,2,6,4\n6,2,2,4\n";
  EXPECT_THAT(said(options), HasSubstr("line 2 is '6,2,2,4'; an anchor is four numbers"));
}

// A picture of 16 x 8 pixels: 1 x 2 cells of 8 pixels and one of 16, two anchors each, one class.
struct Heads {
  std::string file = ::testing::TempDir() + "/assay_sides.csv";
  TaskSubject subject{.output = {36},
                      .targets = 5,
                      .input = {3, 8, 16},
                      .outputs = {{"large", {12, 1, 1}}, {"small", {12, 1, 2}}}};
  Heads() { std::ofstream(file) << "4,4\n8,2\n16 6\n10,10\n"; }
  std::string text(const std::string& format, const std::string& more = "") const {
    return "boxes[format=" + format + ",strides=8+16,names=a,anchors=" + file + more + "]";
  }
};

TEST(Boxes, OfHeadsHaveACellAndAnAnchor) {
  const Heads heads;
  const auto task = made(heads.text("yolo5-heads"), heads.subject);
  EXPECT_THAT(task->outputs(), ElementsAre("small", "large"));  // in the order of the strides
  std::vector<float> small(24, -9), large(12, -9);
  // The second anchor (8 x 2) in the second cell: numbers 6 to 11, two cells each. Of a middle of 0 is 0.5 of
  // the cell, of sides of 0 the anchor: 12, 4 and 8 x 2.
  for (const std::size_t number : {6U, 7U, 8U, 9U}) small[number * 2 + 1] = 0;
  small[10 * 2 + 1] = small[11 * 2 + 1] = 5;
  // The first anchor (16 x 6) of the large cell; the sigmoid of ln 3 is 3/4: 16 and 16 * (1.5)^2 wide.
  large = {std::log(3.0F), 0, std::log(3.0F), 0, 5, 5, -9, -9, -9, -9, -9, -9};
  const auto right = [&](const Task& with, const std::vector<float>& label) {
    return with.judge({.output = small, .targets = label, .others = {large}}).sums.right;
  };
  EXPECT_EQ(right(*task, {0, 8, 3, 16, 5}), 1U);
  // As darknet: 12, 4 and 8 x 2; (3/4) * 16 = 12 and 16 * 3 wide.
  const auto darknet = made(heads.text("yolo3-heads"), heads.subject);
  EXPECT_EQ(right(*darknet, {0, 8, 3, 16, 5}), 1U);
}

TEST(Boxes, OfHeadsInOneOutputHaveGradients) {
  const Heads heads;
  for (const std::string layout : {"columns", "rows"}) {
    TaskSubject subject = heads.subject;
    if (layout == "rows") subject.outputs = {{"small", {2, 1, 2, 6}}, {"large", {2, 1, 1, 6}}};
    const auto task = made(heads.text("yolo5-heads", ",nms=none,confidence=0.05,layout=" + layout), subject);
    Rng random(3);
    std::vector<float> output(36);
    for (float& number : output) number = static_cast<float>(random.normal());
    const Items items = task->decide(output);
    ASSERT_GT(items.classes.size(), 3U);
    const std::vector<Lead> leads = task->leads(output, items);
    for (std::size_t i = 0; i < leads.size(); ++i) {
      EXPECT_TRUE(leads[i].holds);
      std::vector<float> gradients(36);
      task->differentiate(output, leads[i], 1, gradients);
      for (std::size_t n = 0; n < output.size(); ++n) {
        constexpr float step = 1e-2F;
        const auto moved_by = [&](float by) {
          std::vector<float> other = output;
          other[n] += by;
          return task->leads(other, items)[i].value;
        };
        const bool is_box = gradients[n] == 0;  // places of boxes have none
        if (is_box) continue;
        EXPECT_NEAR(gradients[n], (moved_by(step) - moved_by(-step)) / (2 * step), 1e-3) << n;
      }
      EXPECT_EQ(std::ranges::count_if(gradients, [](float g) { return g != 0; }), 2);
    }
  }
}

TEST(Boxes, OfHeadsThatDoNotFitAreRefused) {
  const Heads heads;
  const auto said = [&](const std::string& text) { return fault_of([&] { made(text, heads.subject); }); };
  EXPECT_THAT(said("boxes[format=yolo5-heads]"), HasSubstr("anchors=FILE belong together"));
  EXPECT_THAT(said(heads.text("yolo5-heads", ",normalised=yes")), HasSubstr("normalised= has no effect"));
  EXPECT_THAT(said(heads.text("yolo5-heads", ",score=softmax")), HasSubstr("score=sigmoid or probability"));
  EXPECT_THAT(said(heads.text("yolo5-heads", ",size=32x32")),
              HasSubstr("2 boxes for each of 4 x 4 cells of 8"));
  EXPECT_THAT(said(heads.text("yolo5-heads", ",outputs=small")),
              HasSubstr("1 names in outputs= for 2 grids"));
  EXPECT_THAT(said(heads.text("yolo5-heads", ",size=16x8,outputs=small+small")), HasSubstr("'small'"));
  EXPECT_THAT(said("boxes[format=yolo5-heads,strides=4+8+16,anchors=" + heads.file + "]"),
              HasSubstr("holds 4 anchors, which are not as many for each of 3 grids"));
  std::ofstream(heads.file) << "4,4,8,8\n";
  EXPECT_THAT(said(heads.text("yolo5-heads")), HasSubstr("is '4,4,8,8'; an anchor is two numbers above 0"));
}

}  // namespace
}  // namespace assay::task
