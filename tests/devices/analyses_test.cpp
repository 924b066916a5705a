// Every analysis on a device that is not the processor, against the processor: what runs, and that it says
// the same. The device with memory of its own is always there and shows what a GPU would meet, short of its
// kernels; CUDA runs where there is a GPU.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <assay/attack.h>
#include <assay/coverage.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/explore.h>
#include <assay/mutation.h>
#include <assay/records.h>
#include <assay/relevance.h>
#include <assay/training.h>
#include "separate_memory.h"
#include "tests/engine/graphs.h"

namespace assay {
namespace {

constexpr std::size_t record_count = 40;

class Devices : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cuda" && !at::hasCUDA())
      GTEST_SKIP() << "no GPU here: nothing of this ran on CUDA, only on the device with memory of its own";
  }
  SessionOptions options() const { return {.device = GetParam()}; }
  static SessionOptions processor() { return {.engine = "libtorch"}; }
};

Array records() {
  Rng rng(3);
  return test::uniform_array(rng, {record_count, 1, 12, 12});
}

Graph network(std::uint64_t seed = 1) { return test::lenet_like(seed); }

// Labelled as the network answers, but for every fifth record.
DatasetPtr labelled(const ValidRange& range = {{0}, {1}}) {
  const Session session(network(), {.engine = "libtorch"});
  std::vector<std::int64_t> labels =
      evaluate(session, from_arrays(records(), std::vector<std::int64_t>(record_count)), {}, silence())
          .predictions;
  for (std::size_t r = 0; r < labels.size(); r += 5) labels[r] = (labels[r] + 1) % 4;
  return from_arrays(records(), labels, {.valid_range = range});
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::abs(a[i]))) << i;
}

TEST_P(Devices, RunNetworks) {
  const std::vector<std::pair<Graph, Array>> cases = [] {
    Rng rng(4);
    std::vector<std::pair<Graph, Array>> all;
    all.emplace_back(test::lenet_like(), test::uniform_array(rng, {5, 1, 12, 12}));
    all.emplace_back(test::resnet_like(), test::uniform_array(rng, {5, 3, 8, 8}));
    all.emplace_back(test::transformer_like(), test::uniform_array(rng, {5, 4, 6}));
    all.emplace_back(test::branching(), test::uniform_array(rng, {5, 4, 9, 7}));
    return all;
  }();
  for (const auto& [graph, inputs] : cases) {
    SCOPED_TRACE(graph.name());
    const Session there(graph, options()), here(graph, processor());
    const ValueId output = graph.outputs()[0];
    const std::vector<ValueId> wanted{output};
    const Tensor found = there.run(there.bind(inputs), wanted).at(output);
    EXPECT_FALSE(found.device().is_cpu());
    const Tensor expected = here.run(here.bind(inputs), wanted).at(output);
    EXPECT_TRUE(at::allclose(found.to(at::kCPU), expected, 1e-4, 1e-5));
    EXPECT_EQ(there.layers().size(), here.layers().size());
  }
}

TEST_P(Devices, Evaluate) {
  const DatasetPtr data = labelled();
  const Session there(network(), options()), here(network(), processor());
  const Evaluation found = evaluate(there, data, {}, silence()),
                   expected = evaluate(here, data, {}, silence());
  EXPECT_EQ(found.predictions, expected.predictions);
  EXPECT_EQ(found.accuracy, expected.accuracy);
}

TEST_P(Devices, RelevanceByEveryMethod) {
  const DatasetPtr data = labelled();
  const Session there(network(), options()), here(network(), processor());
  for (const relevance::AttributionInfo& info : relevance::attributions()) {
    SCOPED_TRACE(info.name);
    const auto by = [&](const Session& session) {
      return relevance::analyse_importance(session, data, std::span(&session.penultimate_layer(), 1),
                                           {.method = info.name}, silence());
    };
    const relevance::Importance found = by(there), expected = by(here);
    EXPECT_EQ(found.used, expected.used);
    expect_near(expected.layers[0].relevance, found.layers[0].relevance, 1e-3);
  }
}

TEST_P(Devices, EveryCriterionCounts) {
  const DatasetPtr data = labelled();
  std::vector<coverage::CriterionChoice> criteria;
  for (const auto& info : coverage::criteria()) criteria.emplace_back(info.name);
  const auto measured = [&](const SessionOptions& how) {
    const Session session(network(), how);
    coverage::LearnOptions learn;
    learn.criteria = criteria;
    const auto profile =
        std::make_shared<coverage::Profile>(coverage::learn_profile(session, data, learn, silence()).profile);
    coverage::CoverageState state(profile, criteria, false);
    coverage::measure(session, state, data, {}, silence());
    std::vector<double> values;
    for (std::size_t c = 0; c < criteria.size(); ++c) {
      for (const coverage::Coverage& row : state.result(c)) values.push_back(row.value);
    }
    return values;
  };
  expect_near(measured(processor()), measured(options()), 1e-2);
}

TEST_P(Devices, ActivationsAreFetchedOnceABatch) {
  const Session session(network(), options());
  const std::vector<Tap> taps = taps_of(session.layers(), Reduction::mean);
  const Tensors given = session.bind(records());
  const std::int64_t before = test::times_fetched();
  session.observe(given, taps, {});
  if (GetParam() == test::separate_device) {
    EXPECT_EQ(test::times_fetched() - before, 1);
  }
}

TEST_P(Devices, KillTheSameMutants) {
  const DatasetPtr data = labelled();
  const auto scored = [&](const SessionOptions& how) {
    const Session session(network(), how);
    const mutation::Subject subject(session);
    mutation::DrawOptions draw;
    draw.per_operator = 2;
    for (const auto& info : mutation::operators()) {
      if (info.apply) draw.operators.emplace_back(info.name);
    }
    std::vector<mutation::PlannedMutant> mutants;
    for (const mutation::Mutant& mutant : mutation::draw_mutants(subject, draw).mutants)
      mutants.push_back(mutation::planned(subject, mutant));
    mutation::RunFigures figures;
    return mutation::score(
        mutation::run_mutants(session, mutants, data, {.quality = 2}, nullptr, figures, silence()), {});
  };
  const mutation::MutationScore found = scored(options()), expected = scored(processor());
  ASSERT_EQ(found.mutants.size(), expected.mutants.size());
  EXPECT_GT(expected.all.killed, 0U);
  for (std::size_t m = 0; m < found.mutants.size(); ++m)
    EXPECT_EQ(found.mutants[m].by_class, expected.mutants[m].by_class) << m;
}

TEST_P(Devices, EveryAttackSucceedsAsOften) {
  const DatasetPtr data = labelled();
  const std::filesystem::path folder = testing::TempDir();
  const Session there(network(), options()), here(network(), processor());
  for (const attack::AttackInfo& info : attack::attacks()) {
    SCOPED_TRACE(info.name);
    const auto by = [&](const Session& session) {
      return attack::attack_dataset(
          session, data, attack::AttackChoice(info.name == "cw" ? "cw[search=1,iterations=30]" : info.name),
          folder / "devices.npz", {}, silence());
    };
    const attack::AttackSummary found = by(there), expected = by(here);
    EXPECT_EQ(found.attacked, expected.attacked);
    EXPECT_LE(std::max(found.succeeded, expected.succeeded) - std::min(found.succeeded, expected.succeeded),
              2U);
  }
}

TEST_P(Devices, Explore) {
  const DatasetPtr data = labelled({{-1}, {2}});
  const auto by = [&](const SessionOptions& how, const std::string& constraint) {
    const Session one(network(), how), two(network(2), how);
    coverage::LearnOptions learn;
    learn.criteria = {"nc[threshold=0.25]"};
    const auto profile = [&](const Session& session) {
      return std::make_shared<coverage::Profile>(
          coverage::learn_profile(session, data, learn, silence()).profile);
    };
    explore::ExploreOptions asked;
    asked.search.iterations = 5;
    asked.constraints = {parse_spec("constraint", constraint)};
    return explore::explore({{"one", &one, profile(one)}, {"two", &two, profile(two)}}, data, asked,
                            silence());
  };
  for (const char* constraint : {"light", "linf[eps=0.2]", "features[both=0-7,integer=0-3]"}) {
    SCOPED_TRACE(constraint);
    const explore::Exploration found = by(options(), constraint), expected = by(processor(), constraint);
    EXPECT_EQ(found.seeds, expected.seeds);
    EXPECT_EQ(found.endings, expected.endings);
  }
}

TEST_P(Devices, Train) {
  const DatasetPtr data = labelled();
  training::Recipe recipe;
  recipe.epochs = 2;
  recipe.batch = 8;
  for (const char* optimiser : {"adadelta", "adam", "sgd"}) {
    SCOPED_TRACE(optimiser);
    recipe.optimiser = optimiser;
    const auto by = [&](const SessionOptions& how) {
      return training::train(network(), data, data, recipe, how, silence());
    };
    const training::TrainingResult found = by(options()), expected = by(processor());
    for (std::size_t e = 0; e < recipe.epochs; ++e) {
      EXPECT_NEAR(found.epochs[e].loss, expected.epochs[e].loss, 1e-3) << e;
      EXPECT_NEAR(found.epochs[e].validation_loss.value(), expected.epochs[e].validation_loss.value(), 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Devices, testing::Values(test::separate_device, "cuda"),
                         [](const auto& of) { return of.param == "cuda" ? "Cuda" : "SeparateMemory"; });

TEST(DeviceNames, SayWhatThereIs) {
  const auto message = [](const std::string& name) -> std::string {
    try {
      const Session session(network(), {.device = name});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("cpu"), "");
  EXPECT_NE(message("gpu").find("unknown device 'gpu'"), std::string::npos);
  EXPECT_NE(message("meta").find("unknown device 'meta'"), std::string::npos);
  EXPECT_NE(message("cuda:97").find("not available"), std::string::npos);
  EXPECT_NE(message("privateuseone:1").find("has 1 of its kind"), std::string::npos);
}

}  // namespace
}  // namespace assay
