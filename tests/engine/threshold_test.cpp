// A threshold shifts the score that decides: what runs is the network whose last layer has another bias, and
// what is written is the one that was read.

#include <assay/threshold.h>

#include <gtest/gtest.h>

#include <cmath>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "tests/engine/endings.h"

namespace assay::test {
namespace {

double log_odds(double probability) { return std::log(probability / (1 - probability)); }

// The last layer's bias is lower by that.
Graph with_bias_less(const Graph& graph, double less) {
  GraphBuilder edit(graph);
  const ValueId bias = *graph.find_value("z/b");
  edit.replace_constant(bias, graph.constant(bias) - static_cast<float>(less));
  return edit.build();
}

std::vector<std::int64_t> decided(const Session& session) {
  Rng rng(4);
  const ValueId decision = session.logits();
  const Array values =
      session.run({{session.graph().inputs()[0], random_array(rng, {200, 3})}}, std::span(&decision, 1))
          .at(decision);
  return predicted_classes(session, values, 200);
}

Graph shifted(const Graph& graph, const Threshold& threshold) {
  FileForm form;
  return with_threshold(Session(graph, {.threads = 1}), threshold, form);
}

std::string refused(const Graph& graph, const Threshold& threshold) {
  try {
    shifted(graph, threshold);
    return "nothing";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Threshold, IsTheBiasOfTheLastLayer) {
  for (const auto& [name, ending] : keeping_side()) {
    for (const double at : {0.1, 0.3, 0.8}) {
      const Graph graph = network_with(1, ending);
      const Session session(graph, {.threads = 1});
      // Of other functions of the score; half a tanh is the sigmoid of twice the score.
      if ((!session.ends_in_sigmoid() && name != "nothing") || name == "half a tanh") continue;
      const Graph found = shifted(graph, {.value = at});
      const ValueId bias = *graph.find_value("z/b");
      const Graph wanted = with_bias_less(graph, log_odds(at));
      EXPECT_TRUE(array::allclose(found.constant(bias), wanted.constant(bias), 1e-5, 1e-6)) << name;
      EXPECT_EQ(decided(Session(found, {.threads = 1})), decided(Session(twin_of(wanted), {.threads = 1})))
          << name << ", " << at;
    }
  }
}

// Whatever the network makes of its score, class 1 is what its own decision value is above.
TEST(Threshold, OfTheScoreIsComparedWithTheDecisionValue) {
  for (const auto& [name, ending] : keeping_side()) {
    const Graph graph = network_with(1, ending);
    const Session session(graph, {.threads = 1});
    Rng rng(4);
    const ValueId decision = session.logits();
    const Array values =
        session.run({{graph.inputs()[0], random_array(rng, {200, 3})}}, std::span(&decision, 1)).at(decision);
    std::vector<std::int64_t> above;
    for (const float value : values.as<float>()) above.push_back(value > 0.3F ? 1 : 0);
    EXPECT_EQ(decided(Session(shifted(graph, {.value = 0.3, .of_score = true}), {.threads = 1})), above)
        << name;
  }
}

TEST(Threshold, IsUndoneForFiles) {
  for (const auto& [name, ending] : keeping_side()) {
    const Graph graph = network_with(1, ending);
    FileForm form;
    const Graph running = with_threshold(Session(graph, {.threads = 1}), {.value = 0.3}, form);
    EXPECT_NE(running.hash(), graph.hash()) << name;
    EXPECT_EQ(in_form_of_file(running, form).hash(), graph.hash()) << name;
    // Of an edited network the rest of the edit stays.
    const Graph edited = in_form_of_file(with_bias_less(running, 0.25), form);
    const ValueId bias = *graph.find_value("z/b");
    EXPECT_NEAR(edited.constant(bias).item<float>(), graph.constant(bias).item<float>() - 0.25F, 1e-6);
  }
}

// A last layer without a bias of its own: a node follows it.
TEST(Threshold, NeedsNoBias) {
  Net net("without bias", 5);
  const ValueId w = net.builder.constant("w", Array::of<float>({3, 1}, std::vector<float>{1, -2, 0.5F}));
  const ValueId z = net.builder.add("MatMul", "z", {net.input({-1, 3}), w});
  const Graph graph = net.build(net.builder.add("Sigmoid", "p", {z}));
  FileForm form;
  const Session session(graph, {.threads = 1});
  const Graph running = with_threshold(session, {.value = 0.2}, form);
  Rng rng(4);
  const ValueId p = graph.outputs()[0];
  const Array values =
      session.run({{graph.inputs()[0], random_array(rng, {200, 3})}}, std::span(&p, 1)).at(p);
  std::vector<std::int64_t> above;
  for (const float value : values.as<float>()) above.push_back(value > 0.2F ? 1 : 0);
  EXPECT_EQ(decided(Session(running, {.threads = 1})), above);
  EXPECT_EQ(in_form_of_file(running, form).hash(), graph.hash());
}

TEST(Threshold, IsRefusedWhereItMeansNothing) {
  const auto starts = [](const std::string& text, const std::string& start) {
    EXPECT_EQ(text.find(start), 0U) << text;
  };
  starts(refused(network_with(4, keeping_order().at("Softmax")), {.value = 0.3}),
         "network 'ending' does not give one score a record");
  const Graph probability = network_with(1, keeping_side().at("Sigmoid"));
  starts(refused(probability, {.value = 1.5}), "threshold 1.5: a probability is between 0 and 1");
  starts(refused(probability, {.value = 1.5, .of_score = true}), "threshold 1.5: a probability is between");
  EXPECT_NE(refused(network_with(1, keeping_side().at("nothing")), {.value = 1.5}).find("add of=score"),
            std::string::npos);
  starts(refused(network_with(1, changing_side().at("mean of two sigmoids")), {.value = 0.3}),
         "network 'ending' gives a probability that does not come from one score");
  starts(refused(network_with(1, keeping_side().at("Tanh")), {.value = 2, .of_score = true}),
         "threshold 2: it is not among the values that network 'ending' makes of its score");
  starts(refused(network_with(1, keeping_side().at("Tanh")), {.value = -2, .of_score = true}),
         "threshold -2: it is not among the values that network 'ending' makes of its score");
}

}  // namespace
}  // namespace assay::test
