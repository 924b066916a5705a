#include <assay/evaluate.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <assay/array_math.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include "assay/engine/evaluation/accuracy_check.h"
#include "assay/engine/evaluation/decision.h"
#include "assay/engine/layers/dead_neurons.h"
#include "assay/support/threads.h"
#include "tests/engine/graphs.h"
#include "tests/support/records.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two classes, or targets.
DatasetPtr records(Shape shape, const std::vector<float>& values, std::vector<std::int64_t> labels,
                   const std::vector<float>& targets = {}) {
  const auto count = static_cast<std::int64_t>(values.size()) / element_count(shape);
  shape.insert(shape.begin(), count);
  RecordOptions options{.name = "records of a test"};
  for (std::int64_t i = 0; i < count; ++i) options.ids.push_back("r" + std::to_string(i));
  if (!labels.empty()) options.class_names = {"no", "yes"};
  if (!targets.empty()) options.targets = Array::of<float>({count}, targets);
  return from_arrays(Array::of<float>(shape, values), std::move(labels), std::move(options));
}

// Class 1 when x0 > x1; with an optional ending.
Graph comparator(const std::string& ending = {}, const std::vector<float>& weights = {-1, 1, 1, -1}) {
  test::Net net("comparator");
  const ValueId w = net.builder.constant(
      "w", Array::of<float>({static_cast<std::int64_t>(weights.size() / 2), 2}, weights));
  ValueId x = net.builder.add("Gemm", "dense", {net.input({-1, 2}), w}, {{"transB", std::int64_t{1}}});
  if (!ending.empty()) x = net.builder.add(ending, "end", {x});
  return net.build(x);
}

const std::vector<float> rows{3, 1, 0, 2, 5, 4, 1, 1.5f, 2, 9};  // classes 1 0 1 0 0

TEST(Walk, TakesFewLargeRecordsAtATime) {
  test::Net net("large");
  const ValueId axis = net.builder.constant("axis", test::integers({3}));
  const Session session(net.build(net.builder.add("CumSum", "sum", {net.input({-1, 1, 1024, 2048}), axis})));
  const DatasetPtr six = from_arrays(Array::zeros(DType::float32, {6, 1, 1024, 2048}), {}, {});
  ASSERT_GT(session.preferred_batch(), 6U);
  const auto sizes = [&](std::size_t batch) {
    std::vector<std::size_t> all;
    walk(session, six, {.batch = batch}, silence(),
         [&](const Batch& read, const Tensors&) { all.push_back(read.indices.size()); });
    return all;
  };
  EXPECT_THAT(sizes(6), ElementsAre(6));  // as asked for
  EXPECT_EQ(sizes(0)[0], std::min<std::size_t>(6, std::max<std::size_t>(4, available_threads())));
}

TEST(Evaluate, ANetworkWithoutScoresIsRefused) {
  try {
    evaluate(Session(comparator({}, {})), records({2}, rows, {1, 0, 0, 0, 1}), {}, silence());
    FAIL() << "a class was named";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("network 'comparator': its output 'dense' holds nothing"));
  }
}

TEST(Evaluate, CountsByClassWhateverTheBatch) {
  const auto data = records({2}, rows, {1, 0, 0, 0, 1});
  for (const std::size_t batch : {0, 1, 2, 5}) {
    for (const std::string ending : {"", "Softmax"}) {
      const Evaluation result = evaluate(Session(comparator(ending)), data, {.batch = batch}, silence());
      EXPECT_EQ(result.records, 5u);
      EXPECT_THAT(result.predictions, ElementsAre(1, 0, 1, 0, 0));
      EXPECT_DOUBLE_EQ(result.accuracy.value(), 0.6);
      EXPECT_THAT(result.class_records, ElementsAre(3, 2));
      EXPECT_THAT(result.class_correct, ElementsAre(2, 1));
      EXPECT_FALSE(result.mean_squared_error.has_value());
    }
  }
}

// Scores are x1 - x0 and x0 - x1: probabilities sigmoid(2 (x1 - x0)) and the rest.
TEST(Evaluate, MeasuresHowFarProbabilitiesCanBeBelieved) {
  const std::vector<std::int64_t> labels{1, 0, 0, 0, 1};
  double squared = 0, surprise = 0;
  std::map<int, std::array<double, 3>> bins;  // records, right, sum of confidence
  for (std::size_t r = 0; r < labels.size(); ++r) {
    const double yes = 1 / (1 + std::exp(-2.0 * (rows[2 * r] - rows[2 * r + 1])));
    const double of_label = labels[r] == 1 ? yes : 1 - yes, confidence = std::max(yes, 1 - yes);
    squared += 2 * (1 - of_label) * (1 - of_label);
    surprise -= std::log(of_label);
    auto& bin = bins[static_cast<int>(std::ceil(confidence * 15)) - 1];
    bin[0] += 1, bin[1] += of_label > 0.5 ? 1 : 0, bin[2] += confidence;
  }
  double expected = 0, greatest = 0;
  for (const auto& [b, bin] : bins) {
    expected += std::abs(bin[1] - bin[2]) / 5;
    greatest = std::max(greatest, std::abs(bin[1] - bin[2]) / bin[0]);
  }
  for (const std::string ending : {"", "Softmax", "LogSoftmax"}) {
    for (const std::size_t batch : {1, 2, 5}) {
      const Evaluation result =
          evaluate(Session(comparator(ending)), records({2}, rows, labels), {.batch = batch}, silence());
      const Calibration& calibration = result.calibration.value();
      EXPECT_EQ(calibration.records, 5U);
      EXPECT_NEAR(calibration.expected_error(), expected, 1e-6) << ending;
      EXPECT_NEAR(calibration.greatest_error(), greatest, 1e-6) << ending;
      EXPECT_NEAR(calibration.brier(), squared / 5, 1e-6) << ending;
      EXPECT_NEAR(calibration.negative_log_likelihood(), surprise / 5, 1e-6) << ending;
    }
  }
  EXPECT_FALSE(
      evaluate(Session(comparator()), records({2}, rows, {}), {}, silence()).calibration.has_value());
}

// A network that is always sure, and right three times in four.
TEST(Evaluate, CallsASureNetworkThatErrsBadlyCalibrated) {
  const std::vector<float> sure{90, 0, 90, 0, 0, 90, 0, 90};
  const Evaluation result = evaluate(Session(comparator()), records({2}, sure, {1, 0, 0, 0}), {}, silence());
  EXPECT_NEAR(result.calibration->expected_error(), 0.25, 1e-12);
  EXPECT_NEAR(result.calibration->brier(), 0.5, 1e-12);
  EXPECT_NEAR(result.calibration->negative_log_likelihood(), 180.0 / 4, 1e-3);
}

TEST(Evaluate, ReadsASingleColumnAsYesOrNo) {
  const auto data = records({2}, rows, {1, 0, 1, 0, 0});
  EXPECT_EQ(evaluate(Session(comparator("", {1, -1})), data, {}, silence()).accuracy, 1.0);
  EXPECT_EQ(evaluate(Session(comparator("Sigmoid", {1, -1})), data, {}, silence()).accuracy, 1.0);
}

void expect_refused(const Graph& graph, const std::string& remedy) {
  try {
    evaluate(Session(graph), records({2}, rows, {1, 0, 0, 0, 1}), {}, silence());
    FAIL() << "it was evaluated";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_THAT(error.what(), HasSubstr(remedy));
  }
}

// A network that ends in the number of its class is not a network of one score that says yes or no, and
// sorted scores are not those of class 0, 1, ...
TEST(Evaluate, OutputsThatAreNoScoresByClassAreRefused) {
  const auto three_scores = [](test::Net& net) {
    const ValueId w = net.builder.constant("w", Array::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
    return net.builder.add("Gemm", "dense", {net.input({-1, 2}), w});
  };
  test::Net label("label");
  const ValueId named = three_scores(label);
  expect_refused(label.build(label.builder.add("ArgMax", "label", {named}, {{"axis", std::int64_t{1}}})),
                 "before the ArgMax");
  test::Net best("best");
  const ValueId scores = three_scores(best);
  const ValueId k = best.builder.constant("k", Array::of<std::int64_t>({1}, std::vector<std::int64_t>{2}));
  const ValueId values = best.builder.value("values");
  best.builder.node({.name = "best",
                     .op = "TopK",
                     .inputs = {scores, k},
                     .outputs = {values, best.builder.value("places")},
                     .attributes = {}});
  expect_refused(best.build(values), "before the TopK");
}

TEST(Evaluate, MeasuresRegression) {
  const auto data = records({2}, rows, {}, {2, -2, 1, 0.5f, -6});
  const Evaluation result = evaluate(Session(comparator("", {1, -1})), data, {.batch = 2}, silence());
  // Outputs 2, -2, 1, -0.5, -7: squared errors 0, 0, 0, 1, 1.
  EXPECT_DOUBLE_EQ(result.mean_squared_error.value(), 0.4);
  EXPECT_FALSE(result.accuracy.has_value());
  EXPECT_TRUE(result.predictions.empty());
}

TEST(Evaluate, ClassesForEachPositionAreRefused) {
  test::Net net("segments");
  const Session session(net.build(net.conv("scores", net.input({-1, 1, 4, 4}), 1, 3, 1)));
  const auto message = [&](RecordOptions options) -> std::string {
    try {
      evaluate(session, from_arrays(test::uniform_array(net.rng, {2, 1, 4, 4}), {}, std::move(options)), {},
               silence());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message({.targets = test::uniform_array(net.rng, {2, 16})}),
              HasSubstr("48 numbers a record, but the data have 16 targets; for classes at each position"));
  EXPECT_THAT(message({}), HasSubstr("numeric targets"));
}

TEST(Evaluate, CountsAndNamesNonFiniteRecords) {
  const DatasetPtr clean = records({2}, rows, {1, 0, 1, 0, 0});
  const auto infinite = std::make_shared<test::Spoiled>(clean, std::vector<std::size_t>{1}, 0,
                                                        std::numeric_limits<float>::infinity());
  const auto data = std::make_shared<test::Spoiled>(infinite, std::vector<std::size_t>{4}, 0);
  const Evaluation result = evaluate(Session(comparator()), data, {}, silence());
  EXPECT_EQ(result.non_finite, 2u);
  EXPECT_THAT(result.non_finite_ids, ElementsAre("r1", "r4"));
}

TEST(Evaluate, ANaNWeightBeforeAReluIsNotHidden) {
  const Graph graph = test::lenet_like();
  const ValueId weight = *graph.find_value("conv1/w");
  std::vector<float> values(graph.constant(weight).as<float>().begin(),
                            graph.constant(weight).as<float>().end());
  values[0] = std::nanf("");
  GraphBuilder edit(graph);
  edit.replace_constant(weight, Array::of<float>(graph.constant(weight).shape(), values));
  const auto data = records({1, 12, 12}, std::vector<float>(3 * 144, 0.5f), {0, 1, 0});
  EXPECT_EQ(evaluate(Session(edit.build()), data, {}, silence()).non_finite, 3u);
}

// A network trained on [0, 1] that only looks at whether the first number is above 0.3 and below 0.8.
Graph band() {
  test::Net net("band");
  const auto matrix = [&](const std::string& name, Shape shape, std::vector<float> values) {
    return net.builder.constant(name, Array::of<float>(std::move(shape), values));
  };
  ValueId x = net.builder.add(
      "Gemm", "edges", {net.input({-1, 1}), matrix("w", {2, 1}, {1, 1}), matrix("b", {2}, {-0.3f, -0.8f})},
      {{"transB", std::int64_t{1}}});
  x = net.builder.add("Relu", "relu", {x});
  return net.build(net.builder.add("Gemm", "score",
                                   {x, matrix("v", {2, 2}, {0, 0, 1, -100}), matrix("c", {2}, {0.001f, 0})},
                                   {{"transB", std::int64_t{1}}}));
}

TEST(RequireAccuracy, NamesTheScaleThatWasForgotten) {
  Rng rng(3);
  std::vector<float> right, wrong;
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 200; ++i) {
    const double value = rng.uniform();
    right.push_back(static_cast<float>(value));
    wrong.push_back(static_cast<float>(value * 255));
    labels.push_back(value > 0.301 && value < 0.80 ? 1 : 0);
  }
  const Session session(band());
  const auto good = records({1}, right, labels), bad = records({1}, wrong, labels);
  const Evaluation well = evaluate(session, good, {}, silence());
  EXPECT_GT(well.accuracy.value(), 0.97);
  EXPECT_NO_THROW(require_accuracy(session, good, well, {0.99, 0.02}));
  EXPECT_NO_THROW(require_accuracy(session, good, well, {0.5, 0})) << "more than is asked for is enough";
  EXPECT_THROW(require_accuracy(session, good, well, {0.5, 0, 0.1}), Error)
      << "unless an upper bound is given";
  try {
    require_accuracy(session, bad, evaluate(session, bad, {}, silence()), {0.99, 0.02});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
    EXPECT_THAT(error.what(), HasSubstr("divide the values by 255"));
  }
}

// A SiLU and a ReLU in a row; which class depends on how the picture lies.
Graph of_sides(const Shape& input, bool flat) {
  test::Net net("sides");
  ValueId x = net.conv("first", net.input(input), 1, 4, 3);
  x = net.relu("relu", net.builder.add("Mul", "silu", {x, net.builder.add("Sigmoid", "gate", {x})}));
  if (flat) return net.build(net.dense("score", net.flatten("flat", x), 4 * 7 * 9, 2));
  x = net.builder.add("GlobalAveragePool", "mean", {net.conv("second", x, 4, 2, 3)});
  return net.build(net.flatten("flat", x));
}

// Class 1 where columns beside each other differ by more than a half; of pictures of any size.
Graph of_columns() {
  test::Net net("columns", 1);
  GraphBuilder& b = net.builder;
  const ValueId steps = b.constant("steps", Array::of<float>({1, 1, 1, 2}, std::vector<float>{-1, 1}));
  ValueId x = b.add("Conv", "differences", {net.input({-1, 1, -1, -1}), steps});
  x = net.flatten("flat", b.add("GlobalAveragePool", "mean", {net.relu("relu", x)}));
  const ValueId weights = b.constant("w", Array::of<float>({2, 1}, std::vector<float>{0, 1})),
                shift = b.constant("b", Array::of<float>({2}, std::vector<float>{0, -0.25F}));
  return net.build(b.add("Gemm", "score", {x, weights, shift}, {{"transB", std::int64_t{1}}}));
}

// Rows and columns that alternate; the label says of the rows whether they do by more than a half.
DatasetPtr striped_pictures() {
  Rng rng(5);
  std::vector<float> values;
  std::vector<std::int64_t> labels;
  for (int record = 0; record < 60; ++record) {
    const double rows = rng.uniform(), columns = rng.uniform();
    for (int i = 0; i < 9 * 11; ++i)
      values.push_back(static_cast<float>(rows * (i / 11 % 2) + columns * (i % 11 % 2)));
    labels.push_back(rows > 0.5 ? 1 : 0);
  }
  return records({1, 9, 11}, values, labels);
}

TEST(LikelyCause, PicturesThatAreNotSquareAreSwappedOnlyForNetworksThatTakeThem) {
  const DatasetPtr data = striped_pictures();
  for (const auto& [input, flat] :
       {std::pair(Shape{-1, 1, 9, 11}, false), std::pair(Shape{-1, 1, 9, 11}, true),
        std::pair(Shape{-1, 1, -1, -1}, true)}) {
    const Session session(of_sides(input, flat), {.record_shape = {1, 9, 11}});
    EXPECT_LT(evaluate(session, data, {}, silence()).accuracy.value(), 0.8);
    EXPECT_FALSE(likely_cause(session, *data, {1, 0}, 60).has_value()) << to_string(input);
  }
  const Session any(of_columns(), {.record_shape = {1, 9, 11}});
  const auto found = likely_cause(any, *data, {1, 0}, 60);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->remedy, "swap height and width");
  EXPECT_EQ(found->then, 1);
}

TEST(Bind, NamesBothShapesAndTheLikelyCause) {
  const Session session(test::resnet_like());
  const auto message = [&](Shape shape) -> std::string {
    try {
      session.bind(Array::zeros(DType::float32, std::move(shape)));
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::mismatch);
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message({2, 8, 8, 3}),
              ::testing::AllOf(HasSubstr("[8, 8, 3]"), HasSubstr("[3, 8, 8]"), HasSubstr("channels last")));
  EXPECT_THAT(message({2, 1, 8, 8}), HasSubstr("grey or RGB"));
  EXPECT_THAT(message({2, 3, 9, 8}), HasSubstr("resize"));
  EXPECT_THAT(message({2, 192}), HasSubstr("ambiguous"));
}

TEST(Bind, KnowsVideosWithTheirChannelsLast) {
  test::Net net("video", 3);
  const ValueId video = net.input({-1, 2, 4, 6, 5});
  const Session session(
      net.build(net.flatten("flatten", net.builder.add("GlobalAveragePool", "pool", {video}))));
  try {
    session.bind(Array::zeros(DType::float32, {3, 4, 6, 5, 2}));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("layout=nhwc"));
  }
}

TEST(Bind, FitsDimensionsOfOneAndFlatMatrices) {
  const Session session(test::lenet_like());
  const ValueId input = session.graph().inputs()[0];
  for (const Shape& shape : {Shape{3, 12, 12}, Shape{3, 12, 12, 1}, Shape{3, 144}}) {
    EXPECT_EQ(session.bind(Array::zeros(DType::float32, shape)).at(input).shape(), (Shape{3, 1, 12, 12}));
  }
}

TEST(Bind, TakesWholeNumbersAsTokens) {
  const Session session(test::lstm_like());
  const ValueId input = session.graph().inputs()[0];
  EXPECT_EQ(session.bind(Array::zeros(DType::float32, {2, 7})).at(input).dtype(), DType::int64);
  EXPECT_THROW(session.bind(Array::of<float>({1, 7}, std::vector<float>(7, 0.5f))), Error);
}

TEST(DeadNeurons, AreThoseThatNeverFire) {
  test::Net net("dead");
  const ValueId w =
      net.builder.constant("w", Array::of<float>({3, 2}, std::vector<float>{1, 0, -1, -1, 0, 1}));
  ValueId x = net.builder.add("Gemm", "dense", {net.input({-1, 2}), w}, {{"transB", std::int64_t{1}}});
  const Session session(net.build(net.dense("out", net.relu("relu", x), 3, 2)));
  const auto data = records({2}, rows, {});
  const auto dead = find_dead_neurons(session, session.layers(), data, {.batch = 2}, silence());
  ASSERT_EQ(dead.size(), 2u);
  EXPECT_THAT(dead[0], ElementsAre(1));
  EXPECT_THAT(dead[1], ElementsAre());
}

// They were of class 0, so that they could be right.
TEST(Evaluate, ScoresWithANaNNameNoClass) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinite = std::numeric_limits<float>::infinity();
  const Session two(comparator()), one(comparator("", {1, 0}));
  const Array scores = array::tensor({nan, 1.0F, 1.0F, nan, infinite, 0.0F, 0.0F, 1.0F}).reshape({4, 2});
  EXPECT_THAT(predicted_classes(two, scores, 4), ElementsAre(no_class, no_class, 0, 1));
  EXPECT_THAT(predicted_classes(one, array::tensor({nan, 1.0F, -1.0F}).reshape({3, 1}), 3),
              ElementsAre(no_class, 1, 0));
  test::Net net("roots");
  const Session roots(net.build(net.builder.add("Sqrt", "root", {net.input({-1, 2})})));
  const Evaluation result = evaluate(roots, records({2}, {-1, 4, 9, 4, -1, -1}, {1, 0, 0}), {}, silence());
  EXPECT_THAT(result.predictions, ElementsAre(no_class, 0, no_class));
  EXPECT_DOUBLE_EQ(result.accuracy.value(), 1.0 / 3);
  EXPECT_EQ(result.non_finite, 2U);
}

// A single column is a probability wherever it cannot leave 0 to 1, not only behind a Sigmoid.
TEST(Evaluate, ProbabilitiesAreKnownByTheirBounds) {
  const auto says = [](const std::function<ValueId(test::Net&, ValueId)>& ending) {
    test::Net net("probability");
    const ValueId x = net.input({-1, 1});
    const Session session(net.build(ending(net, x)));
    return session.ends_in_sigmoid();
  };
  const auto number = [](test::Net& net, const std::string& name, float value) {
    return net.builder.constant(name, Array::of<float>({1}, std::vector<float>{value}));
  };
  const auto sigmoid = [](test::Net& net, ValueId x) { return net.builder.add("Sigmoid", "s", {x}); };
  EXPECT_TRUE(says(sigmoid));
  EXPECT_TRUE(says([&](test::Net& net, ValueId x) {
    return net.builder.add("Sub", "no", {number(net, "one", 1), sigmoid(net, x)});
  }));
  EXPECT_TRUE(says([&](test::Net& net, ValueId x) {
    const ValueId e = net.builder.add("Exp", "e", {net.builder.add("Neg", "n", {x})});
    return net.builder.add("Reciprocal", "r", {net.builder.add("Add", "a", {number(net, "one", 1), e})});
  }));
  EXPECT_TRUE(says([&](test::Net& net, ValueId x) {
    const ValueId sum =
        net.builder.add("Add", "sum", {sigmoid(net, x), net.builder.add("Sigmoid", "t", {x})});
    return net.builder.add("Mul", "mean", {sum, number(net, "half", 0.5F)});
  }));
  EXPECT_TRUE(says([&](test::Net& net, ValueId x) {
    return net.builder.add("Clip", "clip",
                           {sigmoid(net, x), number(net, "low", 0.1F), number(net, "high", 0.9F)});
  }));
  EXPECT_TRUE(says([&](test::Net& net, ValueId x) {
    return net.builder.add("Exp", "e", {net.builder.add("Log", "l", {sigmoid(net, x)})});
  }));
  EXPECT_FALSE(says([&](test::Net& net, ValueId x) { return net.builder.add("Tanh", "t", {x}); }));
  EXPECT_FALSE(says([&](test::Net& net, ValueId x) {
    return net.builder.add("Mul", "m", {sigmoid(net, x), number(net, "two", 2)});
  }));
  EXPECT_FALSE(says([&](test::Net& net, ValueId x) { return net.builder.add("Relu", "r", {x}); }));
}

// Axes of size 1 that come and go behind a softmax do not hide it.
TEST(Evaluate, ASoftmaxIsFoundBehindWhatMovesItsRows) {
  const auto session = [](const std::function<ValueId(test::Net&, ValueId)>& ending) {
    test::Net net("moved");
    GraphBuilder& b = net.builder;
    const ValueId x = net.dense("dense", net.input({-1, 4}), 4, 3);
    const ValueId maps = b.add("Reshape", "maps", {x, b.constant("to", test::integers({-1, 3, 1, 1}))});
    return Session(net.build(ending(net, maps)));
  };
  const auto softmax = [](test::Net& net, ValueId x, std::int64_t axis) {
    return net.builder.add("Softmax", "softmax", {x}, {{"axis", axis}});
  };
  const Session flattened =
      session([&](test::Net& net, ValueId maps) { return net.flatten("flatten", softmax(net, maps, 1)); });
  const Session turned = session([&](test::Net& net, ValueId maps) {
    const test::Attributes turn{{"perm", test::Ints{0, 3, 2, 1}}};
    const ValueId last = net.builder.add("Transpose", "turn", {maps}, turn);
    return net.builder.add("Transpose", "back", {softmax(net, last, 3)}, turn);
  });
  const Session unmoved =
      session([&](test::Net& net, ValueId maps) { return softmax(net, net.flatten("flatten", maps), 1); });
  const auto data = records({4}, {1, 0, 2, 1, 0, 3, 1, 1, 2, 2, 0, 5}, {0, 1, 1});
  const auto expected = evaluate(unmoved, data, {}, silence()).predictions;
  for (const Session* one : {&flattened, &turned}) {
    EXPECT_TRUE(one->ends_in_softmax());
    EXPECT_EQ(evaluate(*one, data, {}, silence()).predictions, expected);
    EXPECT_EQ(class_count(*one), 3U);
  }
  // Over something else than the row it is none, and of several positions there is no row.
  const Session ones =
      session([&](test::Net& net, ValueId maps) { return net.flatten("flatten", softmax(net, maps, 2)); });
  EXPECT_FALSE(ones.ends_in_softmax());
  // Probabilities that come out of no softmax are known by their bounds.
  const Session clipped = session([&](test::Net& net, ValueId maps) {
    const auto number = [&](const std::string& name, float value) {
      return net.builder.constant(name, Array::of<float>({}, std::vector<float>{value}));
    };
    return net.builder.add(
        "Clip", "clip",
        {softmax(net, net.flatten("flatten", maps), 1), number("low", 1e-6F), number("high", 0.999F)});
  });
  EXPECT_TRUE(clipped.ends_in_sigmoid());
  EXPECT_EQ(evaluate(clipped, data, {}, silence()).predictions, expected);
}

TEST(Evaluate, ASoftmaxThatIsSpeltOutIsOne) {
  const auto session = [](const std::function<ValueId(GraphBuilder&, ValueId)>& ending) {
    test::Net net("spelt", 3);
    const ValueId x = net.dense("dense", net.input({-1, 4}), 4, 3);
    return Session(net.build(ending(net.builder, x)));
  };
  const auto over = [](GraphBuilder& b, const std::string& op, ValueId x, std::int64_t axis = 1) {
    return b.add(op, op, {x, b.constant(op + "/axes", test::integers({axis}))});
  };
  const auto data = records({4}, {1, 0, 2, 1, 0, 3, 1, 1, 2, 2, 0, 5}, {0, 1, 1});
  const Session usual = session([](GraphBuilder& b, ValueId x) { return b.add("Softmax", "softmax", {x}); });
  const Array inputs = data->read(std::vector<std::size_t>{0, 1, 2}).inputs;
  const auto values = [&](const Session& one, ValueId id) {
    return one.run({{one.graph().inputs()[0], inputs}}, std::span(&id, 1)).at(id);
  };
  const Array expected = values(usual, usual.graph().outputs()[0]);
  const std::vector<std::function<ValueId(GraphBuilder&, ValueId)>> endings{
      [&](GraphBuilder& b, ValueId x) { return b.add("Exp", "exp", {b.add("LogSoftmax", "log", {x})}); },
      [&](GraphBuilder& b, ValueId x) {
        return b.add("Exp", "exp", {b.add("Sub", "less", {x, over(b, "ReduceLogSumExp", x)})});
      },
      [&](GraphBuilder& b, ValueId x) {
        const ValueId exp = b.add("Exp", "exp", {x});
        return b.add("Div", "share", {exp, over(b, "ReduceSum", exp)});
      },
      [&](GraphBuilder& b, ValueId x) {
        const ValueId exp = b.add("Exp", "exp", {b.add("Sub", "less", {x, over(b, "ReduceMax", x)})});
        return b.add("Div", "share", {exp, over(b, "ReduceSum", exp)});
      }};
  for (const auto& ending : endings) {
    const Session spelt = session(ending);
    EXPECT_TRUE(spelt.ends_in_softmax());
    EXPECT_EQ(class_count(spelt), 3U);
    EXPECT_EQ(deciding_output(spelt.graph(), spelt.logits()), spelt.graph().outputs()[0]);
    EXPECT_TRUE(array::allclose(values(spelt, spelt.graph().outputs()[0]), expected, 1e-5, 1e-6));
    EXPECT_TRUE(array::allclose(array::softmax(values(spelt, spelt.logits()), 1), expected, 1e-5, 1e-6));
  }
  // A sum over something else is none.
  EXPECT_FALSE(session([&](GraphBuilder& b, ValueId x) {
                 const ValueId exp = b.add("Exp", "exp", {x});
                 return b.add(
                     "Div", "share",
                     {exp, b.add("ReduceSum", "sum",
                                 {b.add("Abs", "abs", {x}), b.constant("axes", test::integers({1}))})});
               }).ends_in_softmax());
}

TEST(Predict, TellsTheOutputThatDecides) {
  test::Net net("labels first");
  const ValueId scores = net.dense("dense", net.input({-1, 2}), 2, 3);
  const ValueId probabilities = net.builder.add("Softmax", "softmax", {scores});
  net.builder.output(net.builder.add("ArgMax", "label", {probabilities},
                                     {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}));
  const Session session(net.build(probabilities));
  const Predictions said = predict(session, records({2}, rows, {1, 0, 1, 0, 0}), {}, silence());
  ASSERT_EQ(said.outputs.shape(), (Shape{5, 3}));
  for (std::size_t r = 0; r < 5; ++r) {
    const auto row = said.outputs.as<float>().subspan(3 * r, 3);
    EXPECT_NEAR(row[0] + row[1] + row[2], 1, 1e-6);
  }
}

}  // namespace
}  // namespace assay
