// A picture and a table for one network, through every analysis.

#include <gmock/gmock.h>

#include <filesystem>

#include <assay/array_math.h>
#include <assay/attack.h>
#include <assay/coverage.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/explore.h>
#include <assay/mutation.h>
#include <assay/relevance.h>
#include <assay/tensor_records.h>
#include <assay/training.h>
#include "assay/data/files/numpy.h"
#include "assay/data/views.h"
#include "tests/engine/graphs.h"

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Convolution and dense layer for the picture, a dense layer for the table, two layers for both.
Graph two_inputs(std::int64_t batch = -1) {
  Net net("picture-and-table", 4);
  const ValueId table = net.builder.input("table", DType::float32, {batch, 3});
  const ValueId picture = net.builder.input("picture", DType::float32, {batch, 1, 8, 8});
  ValueId x = net.max_pool("pool", net.relu("relu1", net.conv("conv", picture, 1, 4, 3)));
  x = net.relu("relu2", net.dense("seen", net.flatten("flatten", x), 36, 6));
  const ValueId t = net.relu("relu3", net.dense("told", table, 3, 6));
  const ValueId both = net.builder.add("Concat", "both", {x, t}, {{"axis", std::int64_t{1}}});
  return net.build(net.dense("out", net.relu("relu4", net.dense("mixed", both, 12, 10)), 10, 3));
}

class SeveralInputs : public testing::Test {
 protected:
  static constexpr std::int64_t records = 60;

  SeveralInputs() : graph(two_inputs()), session(graph, {.threads = 1}) {
    Rng rng(8);
    pictures = uniform_array(rng, {records, 1, 8, 8});
    tables = random_array(rng, {records, 3}, 2);
    const ValueId logits = session.logits();
    classes = session.run({{id("picture"), pictures}, {id("table"), tables}}, std::span(&logits, 1))
                  .at(logits)
                  .argmax(1);
    data =
        from_tensors({{"picture", pictures}, {"table", tables}}, classes,
                     {.name = "both", .class_names = {"a", "b", "c"}, .valid_range = ValidRange{{0}, {1}}});
  }

  ValueId id(const std::string& name) const { return *graph.find_value(name); }
  static fs::path fresh_folder(const std::string& name) {
    const fs::path folder = fs::path(testing::TempDir()) / ("assay_inputs_" + name);
    fs::remove_all(folder);
    fs::create_directories(folder);
    return folder;
  }
  std::string error_of(const std::function<void()>& act, Fault fault) const {
    try {
      act();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), fault) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }

  Graph graph;
  Session session;
  Array pictures, tables, classes;
  DatasetPtr data;
};

TEST_F(SeveralInputs, AreBoundByName) {
  const DatasetPtr turned = from_tensors({{"table", tables}, {"picture", pictures}}, classes);
  for (const DatasetPtr& each : {data, turned}) {
    for (const std::size_t batch : {0, 7}) {
      const Evaluation result = evaluate(session, each, {.batch = batch}, silence());
      EXPECT_EQ(result.accuracy, 1.0);
    }
  }
  // The table matters: with that of other records the network answers otherwise.
  const DatasetPtr mixed =
      from_tensors({{"table", array::flip(tables, {0})}, {"picture", pictures}}, classes);
  EXPECT_LT(evaluate(session, mixed, {}, silence()).accuracy.value(), 1.0);
}

TEST_F(SeveralInputs, ThatDoNotFitAreNamed) {
  const auto message = [&](std::vector<NamedTensor> inputs, const Session& on) {
    const DatasetPtr wrong = from_tensors(std::move(inputs), classes);
    return error_of([&] { evaluate(on, wrong, {}, silence()); }, Fault::mismatch);
  };
  EXPECT_THAT(message({{"", pictures}}, session),
              AllOf(HasSubstr("table [N, 3] and picture [N, 1, 8, 8]"), HasSubstr("no 'table', 'picture'")));
  EXPECT_THAT(message({{"picture", pictures}}, session), HasSubstr("the data have no 'table'"));
  EXPECT_THAT(message({{"picture", pictures}, {"tables", tables}}, session),
              AllOf(HasSubstr("the data have no 'table'"), HasSubstr("the network has no 'tables'")));
  EXPECT_THAT(message({{"picture", pictures}, {"table", tables}, {"more", tables}}, session),
              HasSubstr("the network has no 'more'"));
  EXPECT_THAT(message({{"picture", pictures}, {"table", pictures}}, session),
              AllOf(HasSubstr("[1, 8, 8]"), HasSubstr("input 'table'"), HasSubstr("[3]")));
  EXPECT_THAT(message({{"picture", pictures}, {"table", tables}}, Session(lenet_like())),
              HasSubstr("the network has no 'picture', 'table'"));
  EXPECT_THAT(error_of([&] { session.bind(pictures); }, Fault::mismatch), HasSubstr("by name"));
}

TEST_F(SeveralInputs, OfAFixedBatchOrDynamicShapesAreKnown) {
  const Session fixed(two_inputs(4), {.threads = 1});
  EXPECT_EQ(evaluate(fixed, data, {.batch = 10}, silence()).accuracy, 1.0);
  // Token ids and a mask of a length that the file leaves open.
  Net net("tokens");
  const ValueId ids = net.builder.input("ids", DType::float32, {-1, -1});
  const ValueId mask = net.builder.input("mask", DType::float32, {-1, -1});
  const Graph open = net.build(net.dense("out", net.builder.add("Mul", "masked", {ids, mask}), 5, 2));
  const DatasetPtr tokens =
      from_tensors({{"mask", array::ones({4, 5}, DType::int64)}, {"ids", array::arange(20).reshape({4, 5})}},
                   array::zeros({4}, DType::int64));
  SessionOptions options{.threads = 1};
  set_record_shapes(options, tokens->facts());
  const Session told(open, options);
  EXPECT_EQ(told.layers().back().name, "out");
  EXPECT_EQ(evaluate(told, tokens, {}, silence()).records, 4U);
}

TEST_F(SeveralInputs, AreCoveredAndMergedAsAnyOthers) {
  coverage::LearnOptions learn;
  for (const char* text : {"nc", "kmnc[sections=10]", "nbc", "idc[m=4]"})
    learn.criteria.push_back(parse_spec("criterion", text));
  const auto profile = std::make_shared<const coverage::Profile>(
      coverage::learn_profile(session, data, learn, silence()).profile);
  const auto values = [&](const DatasetPtr& test) {
    coverage::CoverageState state(profile, learn.criteria, false);
    coverage::measure(session, state, test, {}, silence());
    std::vector<double> all;
    for (const auto& figure : state.figures()) all.push_back(figure.coverage.value);
    return all;
  };
  const std::vector<double> whole = values(data), few = values(selected(data, {0, 1, 2}));
  EXPECT_NE(whole, few);
  // Layers of both inputs are seen: another table alone changes what is covered.
  const DatasetPtr other = from_tensors({{"picture", pictures}, {"table", tables * 5}}, classes);
  EXPECT_NE(values(other), whole);
}

TEST_F(SeveralInputs, AllCarryRelevance) {
  const std::vector<Layer> layers = session.layers();
  const relevance::Importance importance =
      relevance::analyse_importance(session, data, layers, {.method = "lrp-0"}, silence());
  EXPECT_EQ(importance.used, static_cast<std::size_t>(records));
  for (const relevance::LayerImportance& layer : importance.layers) {
    double sum = 0;
    for (const double value : layer.absolute) sum += value;
    EXPECT_GT(sum, 0) << layer.layer.name;
  }
  // Both inputs have some themselves.
  const std::vector<ValueId> inputs{id("picture"), id("table")};
  for (const std::string method : {"epsilon", "gradient-x-input", "integrated-gradients", "deeplift"}) {
    const auto attribution = relevance::make_attribution(method, session, {.wanted = inputs});
    const auto values =
        attribution->attribute(session.bind(data->read(std::vector<std::size_t>{0, 1})), {}, inputs).values;
    EXPECT_EQ(values.at(inputs[0]).shape(), pictures.narrow(0, 0, 2).shape()) << method;
    EXPECT_GT(values.at(inputs[0]).abs().sum().item<float>(), 0) << method;
    EXPECT_GT(values.at(inputs[1]).abs().sum().item<float>(), 0) << method;
  }
}

TEST_F(SeveralInputs, OfMutantsAreReplayedAsTheWholeMutantWould) {
  std::vector<mutation::PlannedMutant> mutants;
  for (const char* const name : {"conv", "seen", "told", "mixed", "out"}) {
    mutation::MutantOutcome description;
    description.layer = name;
    description.op = description.operator_name = "noise";
    mutants.push_back({description, [this, name] {
                         const ValueId weight = *graph.find_value(std::string(name) + "/w");
                         Rng rng(2);
                         const Array noisy =
                             graph.constant(weight) + random_array(rng, graph.constant(weight).shape(), 0.4);
                         GraphBuilder edit(graph);
                         edit.replace_constant(weight, noisy);
                         return edit.build();
                       }});
  }
  const auto killed = [&](bool naive) {
    mutation::RunFigures figures;
    const mutation::MutationState state = mutation::run_mutants(
        session, mutants, data, {.quality = 2, .naive = naive, .batch = 16}, nullptr, figures, silence());
    std::vector<std::vector<bool>> all;
    for (const mutation::MutantOutcome& mutant : state.mutants()) {
      auto& row = all.emplace_back();
      for (std::size_t r = 0; r < state.records().size(); ++r) row.push_back(mutant.killed[r]);
    }
    return all;
  };
  const auto fast = killed(false);
  EXPECT_EQ(fast, killed(true));
  for (const auto& row : fast) EXPECT_GT(std::count(row.begin(), row.end(), true), 0);
}

TEST_F(SeveralInputs, AreTrainedOn) {
  const training::TrainingResult result = training::train(
      graph, data, nullptr,
      {.optimiser = "adam", .learning_rate = 0.01, .batch = 20, .epochs = 20, .checkpoint = {}},
      {.threads = 1}, silence());
  EXPECT_LT(result.epochs.back().loss, result.epochs.front().loss);
  EXPECT_GT(evaluate(Session(result.graph, {.threads = 1}), data, {}, silence()).accuracy.value(), 0.6);
}

TEST_F(SeveralInputs, AreHeldWhileTheFirstIsAttacked) {
  const fs::path folder = fresh_folder("attack");
  for (const std::string attack : {"pgd[eps=0.3]", "removal[share=0.3]", "jsma", "deepfool"}) {
    const attack::AttackSummary summary =
        attack::attack_dataset(session, data, parse_spec("attack", attack),
                               folder / (attack.substr(0, 3) + ".npz"), {.seed = 3}, silence());
    EXPECT_EQ(summary.attacked, static_cast<std::size_t>(records)) << attack;
    EXPECT_EQ(summary.lost, 0U) << attack;
    const DatasetPtr written = open_dataset(summary.data);
    EXPECT_EQ(written->facts().input_name, "picture");
    const Batch one = written->read(std::vector<std::size_t>{5});
    const auto original = static_cast<std::int64_t>(summary.records.at(5).original);
    EXPECT_TRUE(array::equal(one.others.at(0).values[0], tables[original])) << attack;
    EXPECT_EQ(evaluate(session, written, {}, silence()).records, static_cast<std::size_t>(records));
    if (attack.starts_with("pgd")) {
      EXPECT_GT(summary.succeeded, 0U);
      EXPECT_LT(summary.succeeded, summary.attacked);
    }
  }
  // The first input is the one that is attacked.
  const DatasetPtr turned = from_tensors({{"table", tables}, {"picture", pictures}}, classes,
                                         {.valid_range = ValidRange{{-9}, {9}}});
  EXPECT_GT(attack::attack_dataset(session, turned, parse_spec("attack", "pgd[eps=0.3]"),
                                   folder / "table.npz", {}, silence())
                .succeeded,
            0U);
  fs::remove_all(folder);
}

TEST_F(SeveralInputs, AreNotExplored) {
  coverage::LearnOptions learn;
  learn.criteria.push_back(parse_spec("criterion", "nc"));
  const auto profile = std::make_shared<const coverage::Profile>(
      coverage::learn_profile(session, data, learn, silence()).profile);
  const std::vector<explore::ExploredNetwork> networks{{"a", &session, profile}, {"b", &session, profile}};
  EXPECT_THAT(error_of([&] { explore::explore(networks, data, {}, silence()); }, Fault::unsupported),
              HasSubstr("2 inputs a record"));
}

}  // namespace
}  // namespace assay::test
