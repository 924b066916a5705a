// What holds for every operator of the catalogue on every network.

#include <filesystem>
#include <set>

#include <assay/error.h>
#include <assay/model.h>
#include "tests/mutation/subjects.h"

namespace assay::mutation {
namespace {

using namespace test;

class EveryOperator : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  EveryOperator() : graph(build(std::get<1>(GetParam()))), subject(subject_of(graph)) {}

  static Graph build(const std::string& name) {
    for (const Network& network : networks()) {
      if (network.name == name) return network.build();
    }
    ADD_FAILURE() << name;
    return {};
  }
  std::string op() const { return std::get<0>(GetParam()); }
  // Up to `count` mutants of the operator.
  Drawn draw(std::size_t count, bool whole = false) const {
    return draw_mutants(subject, {.operators = {parse_spec("mutation operator", op())},
                                  .per_operator = count,
                                  .layers = {},
                                  .whole_network = whole,
                                  .seed = 5});
  }

  Graph graph;
  Subject subject;
};

// The graph's contents hashed again, as a change behind its back would show.
std::string fresh_hash(const Graph& graph) { return GraphBuilder(graph).build().hash(); }

TEST_P(EveryOperator, GivesMutantsOrSaysWhyNot) {
  const Drawn drawn = draw(6);
  for (const NotApplicable& none : drawn.not_applicable) EXPECT_FALSE(none.reason.empty());
  std::set<std::string> refused;
  for (const NotApplicable& none : drawn.not_applicable) refused.insert(none.layer);
  if (drawn.mutants.empty()) {
    EXPECT_EQ(refused.size(), subject.layers().size());
  }
}

TEST_P(EveryOperator, LeavesTheOriginalAloneAndChangesSomething) {
  const std::string before = graph.hash();
  for (const bool whole : {false, true}) {
    for (const Mutant& one : draw(4, whole).mutants) {
      const Mutation mutation = apply(subject, one);
      EXPECT_NE(mutation.graph.hash(), before) << one.text();
      EXPECT_GE(mutation.sites, 1);
      EXPECT_GE(mutation.change_count, mutation.sites);
      EXPECT_EQ(mutation.changes.size(),
                static_cast<std::size_t>(std::min<std::int64_t>(mutation.change_count, 1000)));
      EXPECT_FALSE(mutation.summary.empty());
    }
  }
  EXPECT_EQ(fresh_hash(graph), before);
  EXPECT_EQ(fresh_hash(subject.graph()), before);
}

// Six hundred weights each: the first thousand changes that are kept name two of the four neurons.
TEST(Summaries, SayThatMoreNeuronsAreChangedThanTheyName) {
  Rng rng(2);
  GraphBuilder build("wide");
  const ValueId x = build.input("x", DType::float32, {-1, 600});
  const ValueId hidden =
      build.add("Relu", "active",
                {build.add("MatMul", "hidden", {x, build.constant("w1", random_array(rng, {600, 4}))})});
  build.output(build.add("MatMul", "logits", {hidden, build.constant("w2", random_array(rng, {4, 2}))}));
  const Graph graph = build.build();
  const Subject subject = subject_of(graph);
  EXPECT_TRUE(apply(subject, parse_mutant("ws[ratio=1]@hidden#1")).summary.ends_with(", ... of hidden"));
  EXPECT_EQ(apply(subject, parse_mutant("ws[ratio=0.5]@logits#1")).summary.find("..."), std::string::npos);
}

TEST_P(EveryOperator, SameSeedSameMutantAndItsTextIsEnough) {
  std::set<std::string> ids, hashes;
  for (const Mutant& one : draw(4).mutants) {
    EXPECT_EQ(parse_mutant(one.text()), one);
    const std::string hash = apply(subject, one).graph.hash();
    EXPECT_EQ(apply(subject_of(graph), parse_mutant(one.text())).graph.hash(), hash);
    EXPECT_TRUE(ids.insert(one.id()).second);
    EXPECT_TRUE(hashes.insert(hash).second) << one.text() << " is the same as another";
  }
}

TEST_P(EveryOperator, KeepsIdsNamesAndReaders) {
  for (const Mutant& one : draw(3).mutants) {
    const Graph mutated = apply(subject, one).graph;
    ASSERT_GE(mutated.values().size(), graph.values().size());
    for (std::size_t i = 0; i < graph.values().size(); ++i)
      EXPECT_EQ(mutated.values()[i].name, graph.values()[i].name);
    EXPECT_TRUE(std::ranges::equal(mutated.inputs(), graph.inputs()));
    EXPECT_TRUE(std::ranges::equal(mutated.outputs(), graph.outputs()));
    // Nodes outside the layer are the same.
    const SubjectLayer& layer = subject.layer(one.layer);
    for (const NodeId n : graph.node_ids()) {
      if (std::ranges::find(layer.nodes, n) != layer.nodes.end()) continue;
      const Node& node = graph.node(n);
      const auto found = mutated.find_node(node.name);
      ASSERT_TRUE(found) << node.name;
      EXPECT_EQ(mutated.node(*found).inputs, node.inputs) << node.name;
    }
  }
}

TEST_P(EveryOperator, SharesAllOtherWeights) {
  for (const Mutant& one : draw(3).mutants) {
    const Mutation mutation = apply(subject, one);
    std::set<std::string> changed;
    for (const Change& change : mutation.changes) changed.insert(change.constant);
    for (std::size_t i = 0; i < graph.values().size(); ++i) {
      const Value& value = graph.values()[i];
      if (!value.constant || changed.contains(value.name)) continue;
      EXPECT_TRUE(value.constant->shares_storage(*mutation.graph.values()[i].constant)) << value.name;
    }
  }
}

TEST_P(EveryOperator, WrittenAsOnnxAndReadBackGivesTheSameOutputs) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "assay_mutation_test";
  std::filesystem::create_directories(folder);
  const Array records = records_for(graph, 5);
  for (const Mutant& one : draw(3).mutants) {
    const Graph mutated = apply(subject, one).graph;
    const auto path = folder / (op() + std::get<1>(GetParam()) + one.id() + ".onnx");
    write_onnx(mutated, path);
    const Array expected = output_of(mutated, records);
    EXPECT_TRUE(array::allclose(output_of(read_model(path), records), expected, 1e-5, 1e-6, true))
        << one.text();
    std::filesystem::remove(path);
  }
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const OperatorInfo& info : operators())
    if (!info.of_source()) names.push_back(info.name);
  return names;
}
std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const Network& network : networks()) names.push_back(network.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryOperator,
                         testing::Combine(testing::ValuesIn(operator_names()),
                                          testing::ValuesIn(network_names())),
                         [](const auto& param) {
                           return std::get<0>(param.param) + "_" + std::get<1>(param.param);
                         });

// Exporters leave weights that a Transpose or Reshape brings into the form that the operator takes: they are
// weights all the same, and a neuron's are where they would be without it.
TEST(HeldWeights, AreMutatedAsThoseOfTheOperatorItself) {
  const auto network = [](bool held) {
    Net net("held");
    GraphBuilder& b = net.builder;
    const Array w1 = ((array::arange(24, DType::float32) - 11) * 0.1).reshape({6, 4});
    const Array w2 = ((array::arange(12, DType::float32) - 5) * 0.2).reshape({3, 4});
    const Array w3 = array::cos(array::arange(12, DType::float32)).reshape({3, 4});
    const auto array = [&](const char* name, const Array& values) {
      return b.constant(name, values.contiguous());
    };
    ValueId x = net.input({-1, 6});
    const ValueId first = held
                              ? b.add("Transpose", "w1_turned", {array("w1", w1.t())}, {{"perm", Ints{1, 0}}})
                              : array("w1", w1);
    x = net.relu("first_act", b.add("MatMul", "first", {x, first}));
    const ValueId second = held ? b.add("Transpose", "w2_turned", {array("w2", w2.t())}) : array("w2", w2);
    x = b.add("Tanh", "second_act", {b.add("Gemm", "second", {x, second}, {{"transB", std::int64_t{1}}})});
    const ValueId third = held
                              ? b.add("Reshape", "w3_matrix",
                                      {array("w3", w3.reshape({12})), b.constant("shape", integers({3, -1}))})
                              : array("w3", w3);
    return net.build(b.add("MatMul", "third", {x, third}));
  };
  const Graph plain = network(false), held = network(true);
  const Subject plain_subject = subject_of(plain), held_subject = subject_of(held);
  ASSERT_EQ(held_subject.layers().size(), 3U);
  const Array records = records_for(plain, 20);
  for (const char* layer : {"first", "second", "third"}) {
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      const Mutation one = apply(plain_subject, mutant("nai", layer, seed));
      const Mutation other = apply(held_subject, mutant("nai", layer, seed));
      EXPECT_EQ(difference(output_of(one.graph, records), output_of(other.graph, records)), 0)
          << layer << seed;
      EXPECT_GT(difference(output_of(plain, records), output_of(other.graph, records)), 0) << layer << seed;
    }
  }
}

TEST(MutationCatalogue, IsDescribedAndHasTheEightOfDeepMutation) {
  ASSERT_FALSE(operators().empty());
  ASSERT_FALSE(presets().empty());
  std::set<std::string> names;
  for (const OperatorInfo& info : operators()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    for (const std::string& text : {info.title, info.summary, info.definition, info.limits, info.paper})
      EXPECT_FALSE(text.empty()) << info.name;
  }
  for (const char* name : {"gf", "ws", "neb", "nai", "ns", "ld", "lam", "afrm"})
    EXPECT_TRUE(names.contains(name)) << name;
  for (const MutationPreset& preset : presets()) {
    for (const std::string& op : preset.specs)
      EXPECT_NO_THROW(options_of(parse_spec("mutation operator", op))) << op;
  }
  EXPECT_TRUE(presets().find("deepmutation").whole_network);
}

TEST(MutationCatalogue, NamesTheNearestOperatorAndOption) {
  try {
    operators().find("nab");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'n"), std::string::npos) << error.what();
  }
  EXPECT_THROW(options_of(parse_spec("mutation operator", "gf[sigm=1]")), Error);
}

}  // namespace
}  // namespace assay::mutation
