#include "assay/mutation/replay/replay.h"

#include <gtest/gtest.h>

#include <assay/array_math.h>
#include <assay/extend/mutation_edit.h>
#include <assay/model.h>
#include "assay/mutation/replay/judge.h"
#include "networks.h"
#include "tests/written.h"

namespace assay::mutation {
namespace {

using GraphEdit = std::function<void(GraphBuilder&, const Graph&)>;

struct Case {
  std::string name;
  Graph (*network)();
  GraphEdit edit;
  std::string way;  // beginning of Replay::way()
};

Array changed(const Array& array, std::size_t index, float value) {
  std::vector<float> values(array.as<float>().begin(), array.as<float>().end());
  values.at(index) = value;
  return Array::of<float>(array.shape(), values);
}

// Replaces one weight of a node's input 1.
GraphEdit weight(const std::string& node, std::size_t index, float value) {
  return [=](GraphBuilder& edit, const Graph& graph) {
    const ValueId id = graph.node(graph.find_node(node).value()).inputs.at(1);
    edit.replace_constant(id, changed(graph.constant(id), index, value));
  };
}

// Puts a node between a value's producer and the value.
GraphEdit inside(const std::string& value, const std::string& op, const Array& constant,
                 std::map<std::string, Attribute> attributes = {}) {
  return [=](GraphBuilder& edit, const Graph& graph) {
    const ValueId id = graph.find_value(value).value();
    const ValueId fresh = edit.value(value + "_before");
    Node producer = graph.node(graph.producer(id));
    std::ranges::replace(producer.outputs, id, fresh);
    edit.replace_node(graph.producer(id), producer);
    std::vector<ValueId> inputs{fresh};
    if (constant.count() > 0) inputs.push_back(edit.constant("", constant));
    edit.node({value + "_edit", op, inputs, {id}, attributes});
  };
}

// Adds to every n-th weight of a node's input 1.
GraphEdit every(std::size_t nth, const std::string& node, float by) {
  return [=](GraphBuilder& edit, const Graph& graph) {
    const ValueId id = graph.node(graph.find_node(node).value()).inputs.at(1);
    Array weights = graph.constant(id);
    for (std::size_t i = 0; i < weights.as<float>().size(); i += nth)
      weights = changed(weights, i, weights.as<float>()[i] + by);
    edit.replace_constant(id, weights);
  };
}

GraphEdit operation(const std::string& node, const std::string& op) {
  return [=](GraphBuilder& edit, const Graph& graph) {
    const NodeId node_id = graph.find_node(node).value();
    Node changed_node = graph.node(node_id);
    changed_node.op = op;
    edit.replace_node(node_id, changed_node);
  };
}

GraphEdit both(const GraphEdit& a, const GraphEdit& b) {
  return [=](GraphBuilder& edit, const Graph& graph) {
    a(edit, graph);
    b(edit, graph);
  };
}

Array numbers(Shape shape, std::vector<float> values) { return Array::of<float>(std::move(shape), values); }

std::vector<Case> cases() {
  using namespace testing_mutation;
  const Array order = Array::of<std::int64_t>({4}, {0, 2, 1, 3});
  return {
      {"WeightOfTheFirstConvolution", small_cnn, weight("conv1", 5, 3.0F), "1 of 4 channels"},
      {"WeightOfTheSecondConvolution", small_cnn, weight("conv2", 40, -2.0F), "1 of 6 channels"},
      {"WeightOfADenseLayer", small_cnn, weight("fc1", 17, 2.5F), "1 of 8 channels"},
      {"WeightOfTheLastLayer", small_cnn, weight("logits", 3, 4.0F), "1 of 3 channels"},
      {"SomeWeightsOfTheFirstConvolution", small_cnn, every(7, "conv1", 0.5F), "changed weights of conv1"},
      {"SomeWeightsOfTheSecondConvolution", small_cnn, every(11, "conv2", 0.5F), "changed weights of conv2"},
      {"SomeWeightsOfADenseLayer", small_cnn, every(13, "fc1", 0.5F), "changed weights of fc1"},
      {"ManyWeightsOfAConvolution", small_cnn, every(2, "conv2", 0.5F), "original from conv2"},
      {"SomeWeightsBetweenBranches", residual_cnn, every(9, "conv2", 0.5F), "changed weights of conv2"},
      {"BlockedChannel", small_cnn, inside("relu1", "Mul", numbers({1, 4, 1, 1}, {1, 0, 1, 1})),
       "1 of 4 channels"},
      {"BlockedNeuron", small_cnn, inside("relu3", "Mul", numbers({8}, {1, 1, 1, 0, 1, 1, 1, 1})),
       "1 of 8 channels"},
      {"SwitchedChannels", small_cnn, inside("relu1", "Gather", order, {{"axis", std::int64_t{1}}}),
       "2 of 4 channels"},
      {"StuckChannel", small_cnn,
       both(inside("relu1", "Mul", numbers({4, 1, 1}, {1, 1, 0, 1})), [](GraphBuilder&, const Graph&) {}),
       "1 of 4 channels"},
      {"ActivationGone", small_cnn, operation("relu1", "Identity"), "original from relu1"},
      {"AnotherActivation", small_cnn, operation("relu3", "Tanh"), "original from relu3"},
      {"ActivationAdded", small_cnn, inside("relu2", "Sigmoid", numbers({0}, {})), "original from"},
      {"TwoLayers", small_cnn, both(weight("conv1", 5, 3.0F), weight("fc1", 17, 2.5F)), "mutant from conv1"},
      {"NormalisedBranchesFirst", residual_cnn, weight("conv1", 7, 3.0F), "1 of 4 channels"},
      {"NormalisedBranchesInside", residual_cnn, weight("conv2", 30, 3.0F), "1 of 4 channels"},
      {"NormalisedBranchesShortcut", residual_cnn, weight("conv3", 30, -3.0F), "1 of 4 channels"},
      {"BlockedSum", residual_cnn, inside("relu3", "Mul", numbers({1, 4, 1, 1}, {0, 1, 1, 1})),
       "1 of 4 channels"},
      {"Recurrent", recurrent, weight("lstm", 11, 2.0F), "original from lstm"},
      {"BehindTheRecurrent", recurrent, weight("dense", 4, 2.0F), ""},
      {"WeightsThroughAnIdentity", shared_weights, weight("rename", 0, 0.0F), "mutant from"},
      {"FixedBatch", fixed_batch, weight("fc", 3, 2.0F), ""},
      {"NothingAtAll", small_cnn, [](GraphBuilder&, const Graph&) {}, "nothing changes"},
  };
}

GraphEdit of_shared_weights() {
  return [](GraphBuilder& edit, const Graph& graph) {
    const ValueId id = graph.find_value("kernel").value();
    edit.replace_constant(id, changed(graph.constant(id), 4, 5.0F));
  };
}

class ReplayOfEdits : public testing::TestWithParam<Case> {};

TEST_P(ReplayOfEdits, AnswersAsTheWholeMutantDoes) {
  const Case& c = GetParam();
  const Graph graph = c.network();
  const Session session(graph);
  GraphBuilder edit(graph);
  (c.name == "WeightsThroughAnIdentity" ? of_shared_weights() : c.edit)(edit, graph);
  const Graph mutant = edit.build();
  const Replay fast(session, mutant), naive(session, mutant, true);
  EXPECT_EQ(fast.way().substr(0, c.way.size()), c.way) << fast.way();
  EXPECT_EQ(fast.changes_anything(), c.name != "NothingAtAll");
  Block block(session);
  for (const std::int64_t rows : {5, 7, 1}) block.add(testing_mutation::inputs_of(session, rows));
  for (std::size_t chunk = 0; chunk < block.chunks(); ++chunk) {
    const Replay::Answer answer = fast.run(block, chunk);
    const Array expected = naive.run(block, chunk).decisions;
    ASSERT_EQ(answer.decisions.shape(), expected.shape());
    EXPECT_TRUE(array::allclose(answer.decisions, expected, 1e-4, 1e-5))
        << written(answer.decisions) << written(expected);
    const Array original = block.value(chunk, session.logits());
    for (std::size_t r = 0; r < answer.untouched.size(); ++r) {
      if (!answer.untouched[r]) continue;
      EXPECT_TRUE(array::equal(answer.decisions[static_cast<std::int64_t>(r)],
                               original[static_cast<std::int64_t>(r)]));
    }
    EXPECT_TRUE(array::allclose(fast.exact(block, chunk, {0}), expected.narrow(0, 0, 1), 1e-5, 1e-6));
  }
}

INSTANTIATE_TEST_SUITE_P(Mutants, ReplayOfEdits, testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.name; });

TEST(Replay, SkipsRecordsThatASilentNeuronCannotReach) {
  const Graph graph = testing_mutation::small_cnn();
  const Session session(graph);
  Block block(session);
  block.add(testing_mutation::inputs_of(session, 40));
  const Array hidden = block.value(0, graph.find_value("relu3").value());
  std::int64_t neuron = 0, silent = 0;
  for (; neuron < 8; ++neuron) {
    silent = hidden.select(1, neuron).eq(0).sum().item<std::int64_t>();
    if (silent > 4 && silent < 40) break;
  }
  ASSERT_LT(neuron, 8) << "no neuron is silent for some records only";
  std::vector<float> mask(8, 1);
  mask[static_cast<std::size_t>(neuron)] = 0;
  GraphBuilder edit(graph);
  inside("relu3", "Mul", numbers({1, 8}, mask))(edit, graph);
  const Replay fast(session, edit.build());
  const Replay::Answer answer = fast.run(block, 0);
  EXPECT_EQ(std::ranges::count(answer.untouched, true), silent);
}

TEST(Replay, InfiniteWeightsTakeTheWayWithoutSums) {
  const Graph graph = testing_mutation::small_cnn();
  const Session session(graph);
  Block block(session);
  block.add(testing_mutation::inputs_of(session, 6));
  for (const GraphEdit& change : {weight("conv1", 5, std::numeric_limits<float>::infinity()),
                                  every(11, "conv2", std::numeric_limits<float>::infinity())}) {
    GraphBuilder edit(graph);
    change(edit, graph);
    const Graph mutant = edit.build();
    const Array fast = Replay(session, mutant).run(block, 0).decisions,
                naive = Replay(session, mutant, true).run(block, 0).decisions;
    EXPECT_TRUE(array::allclose(fast, naive, 1e-4, 1e-5, /*equal_nan=*/true))
        << written(fast) << written(naive);
  }
}

TEST(Judge, ClassesByTheExpectedOne) {
  const Session session(testing_mutation::small_cnn());
  const Array original =
      array::tensor({3.0F, 1.0F, 0.0F, 0.0F, 2.0F, 1.0F, 1.0F, 0.0F, 5.0F}).reshape({3, 3});
  const Array mutant =
      array::tensor({2.0F, 1.5F, 0.0F, 0.0F, 2.0F, 2.5F, std::nanf(""), 0.0F, 5.0F}).reshape({3, 3});
  const auto verdicts =
      Judge(session, std::nullopt).judge(original, mutant, std::vector<std::int64_t>{0, 1, 2});
  EXPECT_FALSE(verdicts[0].killed);
  EXPECT_DOUBLE_EQ(verdicts[0].slack, 0.5);
  EXPECT_DOUBLE_EQ(verdicts[0].change, 1.0);
  EXPECT_TRUE(verdicts[1].killed);
  EXPECT_DOUBLE_EQ(verdicts[1].slack, -0.5);
  EXPECT_DOUBLE_EQ(verdicts[1].scale, 2.5);
  EXPECT_TRUE(verdicts[2].killed);
  EXPECT_FALSE(verdicts[2].finite);
}

TEST(Judge, RegressionByTheMargin) {
  const Session session(testing_mutation::small_cnn());
  const Array original = array::tensor({0.1F, -0.4F}).reshape({2, 1}),
              mutant = array::tensor({0.15F, -0.1F}).reshape({2, 1});
  const auto verdicts = Judge(session, 0.2).judge(original, mutant, {});
  EXPECT_FALSE(verdicts[0].killed);
  EXPECT_NEAR(verdicts[0].slack, 0.15, 1e-6);
  EXPECT_TRUE(verdicts[1].killed);
  EXPECT_NEAR(verdicts[1].change, 0.3, 1e-6);
}

}  // namespace
}  // namespace assay::mutation
