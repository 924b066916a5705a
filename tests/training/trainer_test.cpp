#include <assay/training.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/model.h>
#include <assay/records.h>
#include "assay/support/files/file.h"
#include "tests/engine/graphs.h"

namespace assay::training {
namespace {

// A small network with batch normalisation and dropout for 28x28 digits.
Graph network() {
  test::Net net("small");
  ValueId x = net.input({-1, 1, 28, 28});
  x = net.max_pool("pool1", net.relu("relu1", net.batch_norm("bn", net.conv("conv", x, 1, 4, 5), 4)));
  const ValueId ratio = net.builder.constant("ratio", Array::of<float>({}, std::vector<float>{0.2f}));
  x = net.builder.add("Dropout", "dropout", {net.flatten("flatten", x), ratio});
  return net.build(net.builder.add("Softmax", "softmax", {net.dense("logits", x, 576, 10)}));
}

Recipe recipe() {
  Recipe recipe;
  recipe.optimiser = "adam";
  recipe.learning_rate = 0.005;
  recipe.batch = 50;
  recipe.epochs = 3;
  recipe.seed = 5;
  return recipe;
}

TrainingResult trained(const Recipe& recipe, const std::string& data = "digits:620,seed=3") {
  SessionOptions options;
  options.threads = 1;
  return train(network(), open_dataset(data), open_dataset("digits:200,seed=4"), recipe, options, silence());
}

struct TemporaryFolder {
  TemporaryFolder()
      : path(std::filesystem::temp_directory_path() / ("assay_training_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

Fault fault_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.fault();
  }
  ADD_FAILURE() << "no error";
  return Fault::internal;
}

// Files before operator set 17 spell layer normalisation out; what is learned is the same.
TEST(Trainer, LearnsLayerNormalisationHoweverItIsWritten) {
  const auto network = [](bool spelt_out) {
    test::Net net("net");
    const ValueId x = net.dense("hidden", net.flatten("flatten", net.input({-1, 1, 28, 28})), 784, 6);
    ValueId y;
    if (spelt_out) {
      y = test::spelt_out_layer_norm(net, x, 6);
    } else {
      const ValueId gamma = net.builder.constant("gamma", test::random_array(net.rng, {6}));
      y = net.builder.add("LayerNormalization", "norm", {x, gamma, net.bias("beta", 6)},
                          {{"axis", std::int64_t{-1}}, {"epsilon", 1e-5F}});
    }
    return net.build(net.dense("logits", y, 6, 10));
  };
  Recipe one = recipe();
  one.optimiser = "sgd";
  one.initialiser = "keep";
  one.learning_rate = 0.1;
  const auto learned = [&](bool spelt_out) {
    return train(network(spelt_out), open_dataset("digits:200,seed=3"), nullptr, one, {}, silence());
  };
  const TrainingResult whole = learned(false), parts = learned(true);
  const Graph untrained = network(true);
  for (std::size_t e = 0; e < whole.epochs.size(); ++e)
    EXPECT_NEAR(parts.epochs[e].loss, whole.epochs[e].loss, 1e-4);
  for (const char* name : {"gamma", "beta"}) {
    const auto numbers = [&](const Graph& graph) {
      return graph.constant(*graph.find_value(name)).as<float>();
    };
    const auto before = numbers(untrained), after = numbers(parts.graph), other = numbers(whole.graph);
    double moved = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_NEAR(after[i], other[i], 1e-4) << name;
      moved += std::abs(after[i] - before[i]);
    }
    EXPECT_GT(moved, 1e-3) << name;
  }
}

// Heads that are not matrices: scores in maps of one position, a softmax before the last reshape, targets of
// several axes.
TEST(Trainer, LearnsHeadsOfOtherShapes) {
  const auto losses_of = [](const std::function<ValueId(test::Net&, ValueId)>& ending) {
    test::Net net("net");
    const ValueId x = net.dense("hidden", net.flatten("flatten", net.input({-1, 1, 28, 28})), 784, 10);
    Recipe one = recipe();
    one.initialiser = "keep";
    std::vector<double> losses;
    for (const EpochResult& epoch :
         train(net.build(ending(net, x)), open_dataset("digits:200,seed=3"), nullptr, one, {}, silence())
             .epochs)
      losses.push_back(epoch.loss);
    return losses;
  };
  const auto maps = [](test::Net& net, ValueId x) {
    return net.builder.add("Reshape", "maps",
                           {x, net.builder.constant("to", test::integers({-1, 10, 1, 1}))});
  };
  const auto softmax = [](test::Net& net, ValueId x) {
    return net.builder.add("Softmax", "softmax", {x}, {{"axis", std::int64_t{1}}});
  };
  const std::vector<double> expected = losses_of(softmax);
  EXPECT_EQ(losses_of(maps), expected);
  EXPECT_EQ(
      losses_of([&](test::Net& net, ValueId x) { return net.flatten("flat", softmax(net, maps(net, x))); }),
      expected);
}

TEST(Trainer, LearnsTargetsOfSeveralAxes) {
  Rng rng(3);
  const Array inputs = test::random_array(rng, {40, 6}), targets = test::random_array(rng, {40, 12});
  RecordOptions options;
  options.targets = targets;
  const DatasetPtr data = from_arrays(inputs, {}, std::move(options));
  const auto learned = [&](bool folded) {
    test::Net net("net");
    ValueId x = net.dense("dense", net.input({-1, 6}), 6, 12);
    if (folded)
      x = net.builder.add("Reshape", "fold", {x, net.builder.constant("to", test::integers({-1, 4, 3}))});
    Recipe one = recipe();
    one.loss = "mse";
    one.initialiser = "keep";
    return train(net.build(x), data, nullptr, one, {}, silence()).epochs.back().loss;
  };
  EXPECT_DOUBLE_EQ(learned(true), learned(false));
  // Three targets are not twelve.
  options.targets = test::random_array(rng, {40, 3});
  const DatasetPtr fewer = from_arrays(inputs, {}, std::move(options));
  test::Net net("net");
  const ValueId x = net.dense("dense", net.input({-1, 6}), 6, 12);
  const Graph folded = net.build(
      net.builder.add("Reshape", "fold", {x, net.builder.constant("to", test::integers({-1, 4, 3}))}));
  Recipe one = recipe();
  one.loss = "mse";
  EXPECT_EQ(fault_of([&] { train(folded, fewer, nullptr, one, {}, silence()); }), Fault::mismatch);
  // Nor are twelve numbers in three columns scores of classes.
  const DatasetPtr labelled = from_arrays(inputs, std::vector<std::int64_t>(40, 1), {});
  EXPECT_EQ(fault_of([&] { train(folded, labelled, nullptr, recipe(), {}, silence()); }), Fault::mismatch);
}

TEST(Trainer, LearnsAndReportsWhatTheTrainedNetworkDoes) {
  const TrainingResult result = trained(recipe());
  ASSERT_EQ(result.epochs.size(), 3u);
  EXPECT_LT(result.epochs[2].loss, result.epochs[0].loss * 0.7);
  const EpochResult& best = result.epochs[result.best_epoch];
  ASSERT_TRUE(best.validation_accuracy);
  EXPECT_GT(*best.validation_accuracy, 0.6);
  for (const EpochResult& epoch : result.epochs)
    EXPECT_LE(*epoch.validation_accuracy, *best.validation_accuracy);
  const Session session(result.graph);
  const Evaluation evaluation = evaluate(session, open_dataset("digits:200,seed=4"), {}, silence());
  EXPECT_NEAR(*evaluation.accuracy, *best.validation_accuracy, 1e-9);
}

TEST(Trainer, IsDeterministicForASeed) {
  EXPECT_EQ(trained(recipe()).graph.hash(), trained(recipe()).graph.hash());
  Recipe other = recipe();
  other.seed = 6;
  EXPECT_NE(trained(recipe()).graph.hash(), trained(other).graph.hash());
}

TEST(Trainer, UpdatesTheRunningStatistics) {
  const TrainingResult result = trained(recipe());
  const auto variance = result.graph.constant(*result.graph.find_value("bn/variance")).as<float>();
  for (const float v : variance) EXPECT_NE(v, 1.0f);
}

TEST(Trainer, ResumingGivesTheWeightsOfAnUninterruptedRun) {
  for (const char* optimiser : {"adam", "adadelta[rho=0.9]", "sgd[momentum=0.5]", "nadam"}) {
    const TemporaryFolder folder;
    Recipe whole = recipe();
    whole.optimiser = optimiser;
    whole.decay = 0.01;
    const TrainingResult wanted = trained(whole);
    Recipe part = whole;
    part.checkpoint = folder.path / "checkpoint.npz";
    part.epochs = 1;
    trained(part);
    part.epochs = 3;
    const TrainingResult resumed = trained(part);
    EXPECT_EQ(resumed.graph.hash(), wanted.graph.hash()) << optimiser;
    EXPECT_EQ(resumed.best_epoch, wanted.best_epoch);
    ASSERT_EQ(resumed.epochs.size(), 3u);
    EXPECT_EQ(resumed.epochs[2].loss, wanted.epochs[2].loss);
  }
}

TEST(Trainer, RefusesACheckpointOfAnotherRunOrADamagedOne) {
  const TemporaryFolder folder;
  Recipe part = recipe();
  part.epochs = 1;
  part.checkpoint = folder.path / "checkpoint.npz";
  trained(part);
  part.seed = 99;
  EXPECT_EQ(fault_of([&] { trained(part); }), Fault::mismatch);
  write_file(part.checkpoint, "not an archive");
  EXPECT_EQ(fault_of([&] { trained(part); }), Fault::data);
}

TEST(Trainer, ANonFiniteLossIsAnErrorThatNamesTheEpoch) {
  Recipe wild = recipe();
  wild.optimiser = "sgd";
  wild.learning_rate = 1e38;
  try {
    trained(wild);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    EXPECT_NE(std::string(error.what()).find("epoch 1"), std::string::npos);
  }
}

// Scores [classes, records]: more rows than records in a small batch, fewer in a large one.
TEST(Trainer, RefusesScoresWithoutRecordsInFront) {
  test::Net net("turned");
  const ValueId x = net.dense("fc", net.flatten("flatten", net.input({-1, 1, 2, 2})), 4, 5);
  const Graph graph = net.build(net.builder.add("Transpose", "turn", {x}));
  for (const std::size_t batch : {2U, 8U}) {
    const std::vector<std::int64_t> labels{0, 1, 0, 1, 0, 1, 0, 1};
    const DatasetPtr data = from_arrays(Array::of<float>({8, 1, 2, 2}, std::vector<float>(32, 0.5F)), labels);
    Recipe one = recipe();
    one.batch = batch;
    EXPECT_EQ(fault_of([&] { train(graph, data, nullptr, one, {}, silence()); }), Fault::mismatch);
  }
}

TEST(Trainer, RefusesWhatDoesNotFit) {
  const DatasetPtr numbers = from_arrays(Array::zeros(DType::float32, {4, 1, 28, 28}), {},
                                         {.targets = Array::zeros(DType::float32, {4, 3})});
  for (const char* loss : {"cross-entropy", "mse"}) {  // no labels; three targets for ten outputs
    Recipe misfit = recipe();
    misfit.loss = loss;
    EXPECT_EQ(fault_of([&] { train(network(), numbers, nullptr, misfit, {}, silence()); }), Fault::mismatch);
  }
  Recipe unknown = recipe();
  unknown.loss = "hing";
  EXPECT_EQ(fault_of([&] { trained(unknown); }), Fault::usage);
  Recipe empty = recipe();
  empty.batch = 0;
  EXPECT_EQ(fault_of([&] { trained(empty); }), Fault::usage);
}

// A square matrix that two layers read, one of them turned where `folded`, a bias added by a node of its own.
Graph tied(bool folded) {
  test::Net net("tied");
  ValueId x = net.flatten("flatten", net.max_pool("pool", net.input({-1, 1, 28, 28})));
  x = net.relu("relu1", net.dense("first", x, 196, 40));
  const ValueId shared = net.weight("shared", {40, 40}), bias = net.bias("bias", 40);
  x = net.relu("relu2",
               net.builder.add("Add", "add", {net.builder.add("MatMul", "second", {x, shared}), bias}));
  const ValueId again =
      folded ? net.builder.add("Transpose", "turned", {shared}, {{"perm", std::vector<std::int64_t>{1, 0}}})
             : shared;
  x = net.relu("relu3", net.builder.add("MatMul", "third", {x, again}));
  return net.build(net.dense("logits", x, 40, 10));
}

TEST(Trainer, EnginesAgreeInWhatIsLearned) {
  Recipe few = recipe();
  few.optimiser = "sgd[momentum=0.5]";
  few.epochs = 2;
  few.batch = 44;  // several tiles, and records that fill no tile
  for (const Graph& graph : {network(), tied(false), tied(true)}) {
    const auto learned = [&](const char* engine, int threads) {
      const SessionOptions options{.threads = threads, .engine = engine};
      return train(graph, open_dataset("digits:130,seed=3"), nullptr, few, options, silence()).graph;
    };
    const Graph kernels = learned("reference", 1), lanes = learned("lanes", 1);
    bool moved = false;
    for (const ValueId id : graph.value_ids()) {
      if (!graph.is_constant(id) || graph.constant(id).dtype() != DType::float32) continue;
      const auto one = kernels.constant(id).as<float>(), other = lanes.constant(id).as<float>(),
                 before = graph.constant(id).as<float>();
      for (std::size_t i = 0; i < one.size(); ++i) {
        ASSERT_NEAR(one[i], other[i], 2e-4) << graph.name() << " " << graph.value(id).name;
        moved |= std::abs(one[i] - before[i]) > 0.01;
      }
    }
    EXPECT_TRUE(moved) << graph.name();
  }
}

TEST(Trainer, BitsDoNotDependOnThreads) {
  const auto learned = [](int threads) {
    const SessionOptions options{.threads = threads, .engine = "lanes"};
    return train(tied(false), open_dataset("digits:330,seed=3"), nullptr, recipe(), options, silence())
        .graph.hash();
  };
  EXPECT_EQ(learned(1), learned(3));
}

// The zeros that stand in for a second bias are not weights; all else moves as with two.
TEST(Trainer, LearnsOneBiasOfARecurrentCellAsKerasDoes) {
  const Graph two = test::lstm_like(), one = test::one_bias(two, "lstm");
  constexpr std::size_t width = 20;
  const std::span<const float> first = one.constant(*one.find_value("one")).as<float>();
  std::vector<float> both(first.begin(), first.end());
  both.resize(2 * width, 0.0F);
  GraphBuilder zeroed(two);
  zeroed.replace_constant(*two.find_value("lstm/b"), Array::of<float>({1, 2 * width}, both));
  std::vector<std::int64_t> tokens;
  for (std::int64_t i = 0; i < 8 * 7; ++i) tokens.push_back(i * i % 11);
  Rng rng(3);
  RecordOptions options;
  options.targets = test::random_array(rng, {8, 4});
  const DatasetPtr data = from_arrays(Array::of<std::int64_t>({8, 7}, tokens), {}, std::move(options));
  Recipe step;
  step.loss = "mse", step.optimiser = "sgd", step.initialiser = "keep";
  step.learning_rate = 0.1, step.epochs = 1, step.batch = 8;
  const Graph of_two = train(zeroed.build(), data, nullptr, step, {}, silence()).graph;
  const Graph of_one = train(one, data, nullptr, step, {}, silence()).graph;
  const auto after = of_one.constant(*of_one.find_value("one")).as<float>(),
             expected = of_two.constant(*of_two.find_value("lstm/b")).as<float>();
  ASSERT_EQ(after.size(), width);
  double moved = 0;
  for (std::size_t i = 0; i < width; ++i) {
    EXPECT_NEAR(after[i], expected[i], 1e-6);
    moved += std::abs(after[i] - first[i]);
  }
  EXPECT_GT(moved, 1e-4);
  EXPECT_EQ(of_one.parameter_count() + static_cast<std::int64_t>(width), two.parameter_count());
}

// One step of gradient descent on y = w x + b with squared error, by hand.
TEST(Trainer, OneStepOfRegressionIsTheFormulaWrittenOut) {
  const TemporaryFolder folder;
  write_file(folder.path / "line.csv", "x,y\n1,2\n3,5\n");
  GraphBuilder builder("line");
  const ValueId x = builder.input("input", DType::float32, {-1, 1});
  const ValueId w = builder.constant("w", Array::of<float>({1, 1}, std::vector<float>{0.5f}));
  const ValueId b = builder.constant("b", Array::of<float>({1}, std::vector<float>{0.25f}));
  builder.output(builder.add("Gemm", "fc", {x, w, b}));
  Recipe step;
  step.loss = "mse", step.optimiser = "sgd", step.initialiser = "keep";
  step.learning_rate = 0.1, step.epochs = 1, step.batch = 2;
  const DatasetPtr data = open_dataset((folder.path / "line.csv").string() + ",target=y");
  const TrainingResult result = train(builder.build(), data, nullptr, step, {}, silence());
  // Errors 0.75 - 2 and 1.75 - 5: loss (1.25^2 + 3.25^2) / 2, gradients -(1.25 + 9.75) and -4.5.
  EXPECT_NEAR(result.epochs[0].loss, 6.0625, 1e-6);
  EXPECT_NEAR(result.graph.constant(w).as<float>()[0], 0.5 + 0.1 * 11, 1e-6);
  EXPECT_NEAR(result.graph.constant(b).as<float>()[0], 0.25 + 0.1 * 4.5, 1e-6);
}

}  // namespace
}  // namespace assay::training
