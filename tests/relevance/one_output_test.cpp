// What is explained is the score of a class, whatever stands behind the scores: a network with one output
// explains as its twin with the scores -z/2 and z/2, and one that bends its scores as one that does not.

#include <gtest/gtest.h>

#include <assay/array_math.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/rule.h>
#include <assay/relevance.h>
#include "tests/engine/endings.h"
#include "tests/support/records.h"

namespace assay::relevance {
namespace {

using namespace assay::test;

Array some_records() {
  Rng rng(8);
  return random_array(rng, {12, 3}).clone();
}

struct Explained {
  Array input, hidden;
  std::vector<double> start;
};

Explained explain_class(const Session& session, const std::string& method, const Target& target,
                        AttributionOptions options = {}) {
  const ValueId input = session.graph().inputs()[0], hidden = *session.graph().find_value("relu");
  options.wanted = {input, hidden};
  options.range = ValidRange{{-3}, {3}};
  Relevance found = make_attribution(method, session, options)
                        ->attribute({{input, some_records()}}, target, options.wanted);
  return {found.values.at(input), found.values.at(hidden), found.start};
}

void expect_same(const Explained& a, const Explained& b, const std::string& what) {
  const auto near = [&](const Array& x, const Array& y) {
    EXPECT_LT((x - y).abs().max().item<double>(), 1e-4 * (1e-3 + y.abs().max().item<double>())) << what;
  };
  near(a.input, b.input);
  near(a.hidden, b.hidden);
  ASSERT_EQ(a.start.size(), b.start.size());
  for (std::size_t i = 0; i < a.start.size(); ++i) EXPECT_NEAR(a.start[i], b.start[i], 1e-5) << what;
}

std::vector<Target> targets(std::int64_t classes) {
  Target mixed;
  for (std::int64_t i = 0; i < 12; ++i) mixed.classes.push_back(i % 5 == 4 ? Target::no_class : i % classes);
  return {{}, {std::vector<std::int64_t>(12, 0)}, {std::vector<std::int64_t>(12, 1)}, mixed};
}

TEST(OneOutput, ExplainsAsItsTwinWithTwoByEveryMethod) {
  for (const auto& [name, ending] : keeping_side()) {
    const Graph graph = network_with(1, ending);
    for (const char* engine : {"auto", "reference"}) {
      if (name != "Sigmoid" && std::string(engine) == "reference") continue;
      const Session one(graph, {.threads = 1, .engine = engine}),
          two(twin_of(graph), {.threads = 1, .engine = engine});
      for (const std::string& method : attributions().names()) {
        for (const Target& target : targets(2))
          expect_same(explain_class(one, method, target), explain_class(two, method, target),
                      name + ", " + method);
      }
    }
  }
}

// The last layer's rule sees the weights of the class that is explained.
TEST(OneOutput, ExplainsAsItsTwinWithEveryRule) {
  const Graph graph = network_with(1, keeping_side().at("Sigmoid"));
  const Session one(graph, {.threads = 1}), two(twin_of(graph), {.threads = 1});
  for (const std::string& rule : rules().names()) {
    if (rule == "box" || rule == "pass") continue;  // of first layers, and of those that keep their shape
    AttributionOptions options{.layer_rules = {{"z", rule}}};
    for (const Target& target : targets(2))
      expect_same(explain_class(one, "epsilon", target, options),
                  explain_class(two, "epsilon", target, options), rule);
  }
}

TEST(OneOutput, GradientsAreThoseOfTheTwin) {
  const Graph graph = network_with(1, keeping_side().at("spelt out"));
  const Session one(graph, {.threads = 1}), two(twin_of(graph), {.threads = 1});
  const ValueId input = graph.inputs()[0];
  for (const Target& target : targets(2)) {
    const auto of = [&](const Session& session) {
      return gradients_of(session, {{input, some_records()}}, target, std::span(&input, 1)).at(input);
    };
    EXPECT_TRUE(array::allclose(of(one), of(two), 1e-5, 1e-6));
  }
  EXPECT_THROW(
      gradients_of(one, {{input, some_records()}}, {std::vector<std::int64_t>(12, 2)}, std::span(&input, 1)),
      Error);
}

// Of regression the output itself is explained.
TEST(OneOutput, IsExplainedItselfWhereThatIsAsked) {
  const Graph graph = network_with(1, keeping_side().at("Sigmoid"));
  const Session session(graph, {.threads = 1});
  const ValueId output = graph.outputs()[0];
  const Array p = session.run({{graph.inputs()[0], some_records()}}, std::span(&output, 1)).at(output);
  const Explained found = explain_class(session, "epsilon", {}, {.outputs = true});
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_NEAR(found.start[i], p[static_cast<std::int64_t>(i)][0].item<double>(), 1e-6);
}

TEST(BentScores, ExplainAsTheScoresThemselves) {
  const Session plain(network_with(4, [](Net&, ValueId z) { return z; }), {.threads = 1});
  const Target target = targets(4).back();
  for (const char* method : {"epsilon", "alpha2-beta1", "deeplift", "gradient-x-input"}) {
    const Explained expected = explain_class(plain, method, target);
    for (const auto& [name, ending] : keeping_order()) {
      const Session bent(network_with(4, ending), {.threads = 1});
      expect_same(explain_class(bent, method, target), expected, name + ", " + method);
    }
  }
}

// Rankings by class, over records of both classes and seeds.
TEST(OneOutput, HasTheImportanceOfItsTwin) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Graph graph = network_with(1, keeping_side().at("Sigmoid"), seed);
    const Session one(graph, {.threads = 1}), two(twin_of(graph), {.threads = 1});
    const DatasetPtr data = from_arrays(some_records(), {}, {.name = "records of a test", .class_names = {}});
    const auto importance = [&](const Session& session, std::optional<std::int64_t> only) {
      const Layer layer = session.penultimate_layer();
      return analyse_importance(session, data, std::span(&layer, 1), {.only_class = only}, silence())
          .layers[0];
    };
    for (const std::optional<std::int64_t> only :
         {std::optional<std::int64_t>(), std::optional<std::int64_t>(0), std::optional<std::int64_t>(1)}) {
      const LayerImportance a = importance(one, only), b = importance(two, only);
      for (std::size_t n = 0; n < a.relevance.size(); ++n) EXPECT_NEAR(a.relevance[n], b.relevance[n], 1e-4);
      EXPECT_NEAR(a.total_in, b.total_in, 1e-4);
    }
  }
}

}  // namespace
}  // namespace assay::relevance
