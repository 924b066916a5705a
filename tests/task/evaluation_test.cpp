// Which task a network has, and evaluating data sets under one.

#include <gtest/gtest.h>

#include <map>

#include <assay/error.h>
#include <assay/records.h>
#include <assay/task.h>
#include "tests/engine/graphs.h"

namespace assay::task {
namespace {

// What it gives is what it takes, in this shape a record.
Session identity(Shape record) {
  test::Net net("same");
  record.insert(record.begin(), -1);
  return Session(net.build(net.builder.add("Identity", "y", {net.input(record)})));
}

Session sigmoid(std::int64_t width) {
  test::Net net("shares");
  return Session(net.build(net.builder.add("Sigmoid", "y", {net.input({-1, width})})));
}

Array noise(Shape shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(rng.normal());
  return Array::of<float>(shape, values);
}

Array labels(Shape shape, std::uint64_t classes, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(rng.below(classes));
  return Array::of<float>(shape, values);
}

DatasetPtr targeted(const Array& inputs, const Array& targets) {
  RecordOptions options;
  options.targets = targets;
  return from_arrays(inputs, {}, options);
}

std::string described(const Session& session, const DatasetPtr& data, const std::string& spec = {}) {
  try {
    const auto task = task_of(session, data, spec);
    return task ? task->describe() : "none";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(TaskOf, FollowsFromShapes) {
  EXPECT_EQ(described(identity({3, 2, 4}), targeted(noise({5, 3, 2, 4}, 1), labels({5, 8}, 3, 2))),
            "pixels: 3 classes along axis 1, 8 positions, label 255 does not count");
  EXPECT_EQ(described(identity({7, 3}), targeted(noise({5, 7, 3}, 1), labels({5, 7}, 3, 2))),
            "tokens: 3 classes along axis 2, 7 positions, label -100 does not count");
  EXPECT_EQ(described(identity({3, 7}), targeted(noise({5, 3, 7}, 1), labels({5, 7}, 3, 2))),
            "pixels: 3 classes along axis 1, 7 positions, label 255 does not count");
  EXPECT_EQ(described(sigmoid(4), targeted(noise({9, 4}, 1), labels({9, 4}, 2, 2))),
            "labels: 4 labels, each there above 0.5, -1 does not count");
}

// Masks of black and white: 255 is what is looked for, unless there are other labels.
TEST(TaskOf, TakesMasksOfBlackAndWhite) {
  const Array inputs = noise({3, 1, 2, 2}, 1);
  const auto masks = [&](std::vector<float> of_last) {
    std::vector<float> all{0, 255, 0, 0, 255, 255, 0, 255};
    all.insert(all.end(), of_last.begin(), of_last.end());
    return targeted(inputs, Array::of<float>({3, 4}, all));
  };
  const std::size_t every[] = {0, 1, 2};
  const Session one = identity({1, 2, 2});
  const DatasetPtr black_and_white = masks({0, 255, 255, 0});
  EXPECT_EQ(described(one, black_and_white, "pixels"),
            "pixels: yes or no at 4 positions, above 0, label 255 is class 1");
  const Array levels = black_and_white->read(every).targets;
  EXPECT_EQ(described(identity({2, 4}), targeted(noise({3, 2, 4}, 1), levels)),
            "pixels: 2 classes along axis 1, 4 positions, label 255 is class 1");
  EXPECT_EQ(described(one, masks({0, 1, 1, 0}), "pixels"),
            "pixels: yes or no at 4 positions, above 0, label 255 does not count");
  EXPECT_EQ(described(one, black_and_white, "pixels[ignore=255]"),
            described(one, masks({0, 1, 1, 0}), "pixels"));
  // The same figures as with labels 0 and 1.
  std::vector<float> classes;
  for (const float label : levels.as<float>()) classes.push_back(label / 255);
  const DatasetPtr as_classes = targeted(inputs, Array::of<float>({3, 4}, classes));
  const ItemEvaluation a = evaluate(one, black_and_white, *task_of(one, black_and_white, "pixels"), {},
                                    silence()),
                       b = evaluate(one, as_classes, *task_of(one, as_classes, "pixels"), {}, silence());
  EXPECT_EQ(a.sums.items, 12U);
  EXPECT_EQ(a.sums.right, b.sums.right);
  EXPECT_EQ(a.sums.classes[1].wanted, b.sums.classes[1].wanted);
}

TEST(TaskOf, TakesOneScoreAPixelAsAMaskWhereTargetsHaveTwoValues) {
  const Array inputs = noise({3, 1, 2, 2}, 1), classes = labels({3, 4}, 2, 2);
  const auto with = [&](float yes) {
    std::vector<float> all;
    for (const float label : classes.as<float>()) all.push_back(yes * label);
    return targeted(inputs, Array::of<float>({3, 4}, all));
  };
  const Session picture = identity({1, 2, 2});
  EXPECT_EQ(described(picture, with(1)),
            "pixels: yes or no at 4 positions, above 0, label 255 does not count");
  EXPECT_EQ(described(picture, with(255)), "pixels: yes or no at 4 positions, above 0, label 255 is class 1");
  EXPECT_EQ(described(picture, with(0.5F)), "none") << "a regression";
  const auto of_first = [&](std::vector<float> levels) {
    return targeted(noise({1, 1, 2, 2}, 1), Array::of<float>({1, 4}, levels));
  };
  EXPECT_EQ(described(picture, of_first({0, 1, 255, 0})),
            "pixels: yes or no at 4 positions, above 0, label 255 does not count");
  EXPECT_EQ(described(picture, of_first({0, 2, 255, 0})), "none");
}

// What 255 means follows from all records that a task is of.
TEST(TaskOf, LooksAtMasksOfTrainingAndTest) {
  const Session picture = identity({1, 2, 2});
  const auto masks = [](std::vector<float> levels) {
    return targeted(noise({1, 1, 2, 2}, 1), Array::of<float>({1, 4}, levels));
  };
  const DatasetPtr black = masks({0, 0, 0, 0}), white = masks({255, 255, 255, 255}),
                   both = masks({0, 255, 255, 0}), classes = masks({0, 1, 255, 0});
  const std::string taken = "pixels: yes or no at 4 positions, above 0, label 255 is class 1";
  EXPECT_EQ(task_of(picture, black, "pixels", both)->describe(), taken);
  EXPECT_EQ(task_of(picture, both, "pixels", black)->describe(), taken);
  EXPECT_EQ(task_of(picture, white, "pixels", both)->describe(), taken);
  EXPECT_EQ(task_of(picture, classes, "pixels", black)->describe(), described(picture, classes, "pixels"));
  for (const auto& [one, other] : {std::pair(both, classes), std::pair(classes, both)}) {
    try {
      task_of(picture, one, "pixels", other);
      ADD_FAILURE() << "255 has two meanings";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::mismatch);
      EXPECT_NE(std::string(error.what()).find("pixels[foreground=255] or pixels[ignore=255]"),
                std::string::npos);
    }
    EXPECT_NO_THROW(task_of(picture, one, "pixels[ignore=255]", other));
  }
}

TEST(TaskOf, SaysWhatLabelsDecided) {
  const Session picture = identity({1, 2, 2});
  const DatasetPtr both =
      targeted(noise({1, 1, 2, 2}, 1), Array::of<float>({1, 4}, std::vector<float>{0, 255, 255, 0}));
  const auto inferred = [&](const std::string& spec) {
    return inferred_from_labels(*task_of(picture, both, spec), spec);
  };
  EXPECT_NE(inferred("").find("255 is taken as class 1; pixels[ignore=255]"), std::string::npos);
  EXPECT_EQ(inferred("").empty(), inferred("pixels").empty());
  EXPECT_EQ(inferred("pixels[foreground=255]"), "");
  EXPECT_EQ(inferred("pixels[ignore=255]"), "");
}

TEST(TaskOf, AsksWhatWhiteMasksMean) {
  const DatasetPtr white =
      targeted(noise({1, 1, 2, 2}, 1), Array::of<float>({1, 4}, std::vector<float>(4, 255)));
  const std::string said = described(identity({1, 2, 2}), white, "pixels");
  EXPECT_NE(said.find("pixels[foreground=255] or pixels[ignore=255]"), std::string::npos) << said;
  EXPECT_NE(described(identity({3, 2, 2}), targeted(noise({1, 3, 2, 2}, 1), labels({1, 4}, 3, 2)),
                      "pixels[foreground=255]")
                .find("label of class 1 of two, and there are 3"),
            std::string::npos);
  const DatasetPtr yes = targeted(noise({1, 1, 2, 2}, 1), labels({1, 4}, 2, 2));
  EXPECT_NE(described(identity({1, 2, 2}), yes, "pixels[foreground=255,ignore=255]").find("leave out ignore"),
            std::string::npos);
}

TEST(TaskOf, IsNothingForOneDecisionARecord) {
  EXPECT_EQ(described(identity({4}), targeted(noise({9, 4}, 1), noise({9, 4}, 2))), "none");
  EXPECT_EQ(described(sigmoid(4), targeted(noise({9, 4}, 1), noise({9, 4}, 2))), "none");
  EXPECT_EQ(described(identity({4}), from_arrays(noise({9, 4}, 1), std::vector<std::int64_t>(9, 1))), "none");
}

TEST(TaskOf, AsksWhereSeveralFit) {
  const std::string said = described(identity({4, 4}), targeted(noise({5, 4, 4}, 1), labels({5, 4}, 4, 2)));
  EXPECT_NE(said.find("fits several tasks; name one of: pixels, tokens"), std::string::npos) << said;
  EXPECT_EQ(described(identity({4, 4}), targeted(noise({5, 4, 4}, 1), labels({5, 4}, 4, 2)), "tokens"),
            "tokens: 4 classes along axis 2, 4 positions, label -100 does not count");
}

TEST(TaskOf, NeedsLabelsOfItems) {
  const std::string said = described(identity({3, 2, 4}), from_arrays(noise({5, 3, 2, 4}, 1)), "pixels");
  EXPECT_NE(said.find("needs a label for every item"), std::string::npos) << said;
}

TEST(PreparedFor, TakesWholeNumbersAsLabels) {
  const DatasetPtr data = targeted(noise({3, 1}, 1), Array::of<float>({3}, std::vector<float>{1, 0, 1}));
  const DatasetPtr labelled = prepared_for("binary", data);
  ASSERT_TRUE(labelled->has_labels());
  EXPECT_EQ(labelled->target_width(), 0U);
  EXPECT_EQ(labelled->label(2), 1);
  EXPECT_EQ(prepared_for("", data), data);
  EXPECT_EQ(prepared_for("regression", data), data);
  const auto said = [](const std::string& task, const DatasetPtr& given) -> std::string {
    try {
      prepared_for(task, given);
      return "nothing";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const DatasetPtr halves = targeted(noise({2, 1}, 1), Array::of<float>({2}, std::vector<float>{1, 0.5F}));
  EXPECT_EQ(said("classes", halves),
            "task 'classes': record '1' has the target 0.5, which is not the number of a class");
  const DatasetPtr three = from_arrays(noise({3, 1}, 1), {0, 2, 1});
  EXPECT_EQ(said("binary", three), "task 'binary': record '1' has label 2, which is not 0 or 1");
  EXPECT_EQ(said("classes", three), "nothing");
  EXPECT_EQ(said("regression", three).find("task 'regression' needs targets"), 0U);
  EXPECT_EQ(said("binary[thresh=0.3]", three),
            "task 'binary' has no option 'thresh'; did you mean 'threshold'?; it has threshold, of");
  EXPECT_EQ(said("classes[top=5]", three), "task 'classes' has no option 'top'; it has none");
}

TEST(EvaluateItems, AgreesWithPositionsAsRecords) {
  const Array scores = noise({12, 3, 2, 4}, 5), wanted = labels({12, 8}, 3, 6);
  const Session pictures = identity({3, 2, 4}), rows = identity({3});
  const DatasetPtr data = targeted(scores, wanted);
  const ItemEvaluation found = evaluate(pictures, data, *task_of(pictures, data), {.batch = 5}, silence());

  const Array flat = scores.permute({0, 2, 3, 1}).contiguous().reshape({96, 3});
  std::vector<std::int64_t> classes;
  for (const float label : wanted.as<float>()) classes.push_back(static_cast<std::int64_t>(label));
  const Evaluation single = assay::evaluate(rows, from_arrays(flat, classes), {}, silence());
  EXPECT_EQ(found.sums.items, 96U);
  EXPECT_DOUBLE_EQ(found.figures[0].value, *single.accuracy);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(found.sums.classes[c].wanted, single.class_records[c]);
    EXPECT_EQ(found.sums.classes[c].matched, single.class_correct[c]);
  }
}

TEST(EvaluateItems, DoesNotDependOnBatchesAndReproducesIntervals) {
  const Session session = identity({3, 2, 4});
  const DatasetPtr data = targeted(noise({40, 3, 2, 4}, 5), labels({40, 8}, 3, 6));
  const auto task = task_of(session, data);
  const ItemEvaluation a = evaluate(session, data, *task, {.batch = 7}, silence()),
                       b = evaluate(session, data, *task, {.batch = 40}, silence());
  ASSERT_EQ(a.figures.size(), b.figures.size());
  for (std::size_t i = 0; i < a.figures.size(); ++i) {
    ASSERT_TRUE(a.figures[i].interval);
    EXPECT_EQ(a.figures[i].interval, b.figures[i].interval);
    EXPECT_LE(a.figures[i].interval->first, a.figures[i].value);
    EXPECT_GE(a.figures[i].interval->second, a.figures[i].value);
  }
  ASSERT_EQ(a.worst.size(), 10U);
  for (std::size_t i = 1; i < a.worst.size(); ++i) EXPECT_LE(a.worst[i - 1].right, a.worst[i].right);
}

// Shares of right items are means over records here, whose interval a normal distribution tells.
TEST(EvaluateItems, IntervalsAreThoseOfRecords) {
  const Session session = identity({2, 1, 50});
  // Every record is all right or all wrong: items do not make intervals narrower.
  std::vector<float> scores, wanted;
  for (int r = 0; r < 200; ++r) {
    for (int p = 0; p < 50; ++p) scores.push_back(1);
    for (int p = 0; p < 50; ++p) scores.push_back(0);
    for (int p = 0; p < 50; ++p) wanted.push_back(r % 2 == 0 ? 0.0F : 1.0F);
  }
  const DatasetPtr data =
      targeted(Array::of<float>({200, 2, 1, 50}, scores), Array::of<float>({200, 50}, wanted));
  const ItemEvaluation found = evaluate(session, data, *task_of(session, data), {}, silence());
  const double error = 1.96 * std::sqrt(0.25 / 200);
  EXPECT_NEAR(found.figures[0].interval->first, 0.5 - error, 0.01);
  EXPECT_NEAR(found.figures[0].interval->second, 0.5 + error, 0.01);
}

TEST(EvaluateItems, NamesTheRecordAtFault) {
  const Session session = identity({3, 2, 4});
  Array wanted = labels({5, 8}, 3, 6);
  wanted.elements<float>()[3 * 8 + 1] = 77;
  wanted.elements<float>()[4 * 8] = 78;
  const DatasetPtr data = targeted(noise({5, 3, 2, 4}, 1), wanted);
  try {
    evaluate(session, data, *task_of(session, data), {}, silence());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("record '3': label 77 at position 1"), 0U) << error.what();
    EXPECT_EQ(error.fault(), Fault::data);
  }
}

// Boxes and scores as two outputs, parts of a record of five numbers a box.
Session detector(std::int64_t boxes) {
  test::Net net("detector");
  const ValueId x = net.input({-1, boxes, 5});
  const auto part = [&](const std::string& name, std::int64_t from, std::int64_t to) {
    return net.builder.add("Slice", name,
                           {x, net.builder.constant(name + "/from", test::integers({from})),
                            net.builder.constant(name + "/to", test::integers({to})),
                            net.builder.constant(name + "/axis", test::integers({2}))});
  };
  net.builder.output(part("boxes", 0, 4));
  net.builder.output(part("scores", 4, 5));
  return Session(net.builder.build());
}

// Records with one box each, found exactly but for every third, and a detection of nothing.
DatasetPtr detected(std::int64_t records) {
  std::vector<float> inputs, labels;
  for (std::int64_t r = 0; r < records; ++r) {
    const float at = static_cast<float>(r), score = 0.3F + 0.01F * at;
    const float found = r % 3 == 0 ? at + 50 : at;
    for (const float number : {found, found, found + 10, found + 10, score, 90.0F, 90.0F, 99.0F, 99.0F, 0.4F})
      inputs.push_back(number);
    for (const float number : {0.0F, at, at, at + 10, at + 10}) labels.push_back(number);
  }
  return targeted(Array::of<float>({records, 2, 5}, inputs), Array::of<float>({records, 5}, labels));
}

TEST(EvaluateItems, BoxesComeFromSeveralOutputs) {
  const Session session = detector(2);
  const DatasetPtr data = detected(30);
  const auto task = task_of(session, data, "boxes[format=retinanet]");
  const ItemEvaluation a = evaluate(session, data, *task, {.batch = 7}, silence()),
                       b = evaluate(session, data, *task, {.batch = 30}, silence());
  EXPECT_EQ(a.sums.right, 20U);
  EXPECT_EQ(a.sums.items, 20U + 10 + 10 + 30);  // found, missed, found elsewhere, and of nothing
  ASSERT_EQ(a.figures.size(), b.figures.size());
  EXPECT_EQ(a.figures[0].name, "mean-average-precision");
  for (std::size_t i = 0; i < a.figures.size(); ++i) {
    EXPECT_EQ(a.figures[i].value, b.figures[i].value);
    ASSERT_TRUE(a.figures[i].interval) << a.figures[i].name;
    EXPECT_EQ(a.figures[i].interval, b.figures[i].interval);
    EXPECT_LT(a.figures[i].interval->first, a.figures[i].value);
    EXPECT_GT(a.figures[i].interval->second, a.figures[i].value);
  }
  const std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> confusions = {{{0, 1}, 10},
                                                                                     {{1, 0}, 40}};
  EXPECT_EQ(a.confusions, confusions);
}

TEST(EvaluateItems, EmbeddingsAreJudgedAtTheEnd) {
  const Session session = identity({2});
  std::vector<std::int64_t> classes(40);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::int64_t>(i % 2);
  const DatasetPtr data = prepared_for("embedding", from_arrays(noise({40, 2}, 3), classes));
  const auto task = task_of(session, data, "embedding");
  const ItemEvaluation found = evaluate(session, data, *task, {.batch = 7}, silence());
  EXPECT_EQ(found.sums.items, 40U);
  std::uint64_t confused = 0;
  for (const auto& [pair, count] : found.confusions) confused += count;
  EXPECT_EQ(found.sums.right, 40U - confused);
  EXPECT_EQ(found.sums.records, 40U);
  ASSERT_FALSE(found.worst.empty());
  EXPECT_DOUBLE_EQ(found.figures[0].value, static_cast<double>(found.sums.right) / 40);
  for (const Figure& figure : found.figures) EXPECT_TRUE(figure.interval) << figure.name;
  // Of single records, the centres being those of all.
  const std::shared_ptr<const Task> settled_one =
      settled(session, data, task_of(session, data, "embedding"), 0, silence());
  EXPECT_EQ(settled(session, data, settled_one, 0, silence()), settled_one);
  EXPECT_EQ(evaluate(session, data, *settled_one, {.batch = 7}, silence()).sums.items, 40U);
}

TEST(PreparedFor, GivesEmbeddingsTheNumberOfTheClassAsTarget) {
  const DatasetPtr labelled = prepared_for("embedding", from_arrays(noise({3, 2}, 1), {2, 0, 1}));
  EXPECT_FALSE(labelled->has_labels());
  EXPECT_EQ(labelled->target_width(), 1U);
  EXPECT_EQ(labelled->class_count(), 3U);
  EXPECT_EQ(labelled->read(std::vector<std::size_t>{0}).targets.as<float>()[0], 2);
  const DatasetPtr targets = prepared_for("embedding", targeted(noise({3, 2}, 1), labels({3}, 2, 1)));
  EXPECT_EQ(targets->class_count(), 2U);
}

TEST(EvaluateItems, RanksLabels) {
  const Session session = sigmoid(2);
  const DatasetPtr data = targeted(Array::of<float>({3, 2}, std::vector<float>{2, -1, 1, -2, 0.5F, -3}),
                                   Array::of<float>({3, 2}, std::vector<float>{1, 0, 0, 0, 1, 1}));
  const ItemEvaluation found = evaluate(session, data, *task_of(session, data), {}, silence());
  const auto value = [&](const std::string& name, std::optional<std::int64_t> of_class) {
    for (const Figure& figure : found.figures) {
      if (figure.name == name && figure.of_class == of_class) return figure.value;
    }
    return -1.0;
  };
  EXPECT_DOUBLE_EQ(value("average-precision", 0), (1 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(value("average-precision", 1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(value("mean-average-precision", std::nullopt), ((1 + 2.0 / 3) / 2 + 1.0 / 3) / 2);
}

}  // namespace
}  // namespace assay::task
