// A quantised network is a network: the same layers, relevance and gradients through rounding, weights to
// mutate.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include <assay/extend/mutation_subject.h>
#include <assay/relevance.h>
#include "tests/engine/graphs.h"
#include "tests/engine/quantise.h"

namespace assay::relevance {
namespace {

using namespace assay::test;

struct Quantised : testing::Test {
  Quantised()
      : records(random_records()), plain(lenet_like(), {.threads = 1}), whole(read_back(), {.threads = 1}) {}
  static Array random_records() {
    Rng rng(5);
    return uniform_array(rng, {20, 1, 12, 12});
  }
  // As a file, so that the reader sees what exporters write.
  Graph read_back() {
    const auto file =
        std::filesystem::temp_directory_path() / ("assay-int8-" + std::to_string(getpid()) + ".onnx");
    write_onnx(quantised(plain.graph(), records), file);
    Graph graph = read_model(file);
    std::filesystem::remove(file);
    return graph;
  }
  Array logits(const Session& session) {
    const ValueId id = session.logits();
    return session.run(session.bind(records), std::span(&id, 1)).at(id);
  }
  Array records;
  Session plain, whole;
};

TEST_F(Quantised, HasTheLayersOfTheFloatNetwork) {
  ASSERT_EQ(whole.layers().size(), plain.layers().size());
  for (std::size_t i = 0; i < plain.layers().size(); ++i) {
    EXPECT_EQ(whole.layers()[i].name, plain.layers()[i].name);
    EXPECT_EQ(whole.layers()[i].neurons, plain.layers()[i].neurons);
    EXPECT_EQ(whole.layers()[i].parameters, plain.layers()[i].parameters);
  }
}

TEST_F(Quantised, GivesNearlyWhatTheFloatNetworkGivesFastAndByReference) {
  const Array expected = logits(plain);
  const double largest = expected.abs().max().item<double>();
  const double error = (logits(whole) - expected).abs().max().item<double>();
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 0.05 * largest);
  const Session reference(whole.graph(), {.threads = 1, .engine = "reference"});
  // A sum at the middle between two integers may go either way: a step or two of 1/127.
  EXPECT_LT((logits(whole) - logits(reference)).abs().max().item<double>(), 0.05 * largest);
}

TEST_F(Quantised, PassesRelevanceAndGradientsThroughRounding) {
  for (const char* method : {"epsilon", "gradient-x-input"}) {
    const ValueId first = whole.layers()[0].value;
    const ValueId of_plain = plain.layers()[0].value;
    const auto of = [&](const Session& session, ValueId id) {
      return make_attribution(method, session)
          ->attribute(session.bind(records), {{std::vector<std::int64_t>(20, 2)}}, std::span(&id, 1))
          .values.at(id)
          .flatten();
    };
    const Array a = of(whole, first), b = of(plain, of_plain);
    const double cosine =
        (a * b).sum().item<double>() / (array::norm(a, 2) * array::norm(b, 2)).item<double>();
    EXPECT_GT(cosine, 0.9) << method;
  }
}

TEST_F(Quantised, HasWeightsToMutate) {
  const mutation::Subject subject(whole), of_plain(plain);
  ASSERT_EQ(subject.layers().size(), of_plain.layers().size());
  for (std::size_t i = 0; i < subject.layers().size(); ++i) {
    EXPECT_EQ(subject.layers()[i].name(), of_plain.layers()[i].name());
    EXPECT_EQ(subject.layers()[i].weight_count, of_plain.layers()[i].weight_count);
  }
}

}  // namespace
}  // namespace assay::relevance
