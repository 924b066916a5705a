// Decision trees of ai.onnx.ml by values worked by hand, and what damaged ones are told.

#include <gmock/gmock.h>

#include <assay/session.h>
#include "assay/model/trees.h"
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;
using ::testing::ElementsAre;
using Floats = std::vector<float>;

void set_texts(onnx::NodeProto& node, const std::string& name, const Names& texts) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRINGS);
  for (const auto& text : texts) attribute.add_strings(text);
}

// Two trees of x [N, 2]: x0 <= 1 ? (x1 > 2 ? 10 : 20) : 30, and a leaf alone that says 100.
OnnxFile two_trees(const std::function<void(onnx::NodeProto&)>& change = {}) {
  OnnxFile file(18);
  file.input("x", {-1, 2});
  auto& node = file.node("TreeEnsembleRegressor", {"x"}, {"y"}, "trees");
  node.set_domain("ai.onnx.ml");
  set(node, "nodes_treeids", Ints{0, 0, 0, 0, 0, 7});
  set(node, "nodes_nodeids", Ints{0, 1, 2, 3, 4, 0});
  set(node, "nodes_featureids", Ints{0, 1, 0, 0, 0, 0});
  set_texts(node, "nodes_modes", {"BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "LEAF"});
  set(node, "nodes_values", Floats{1, 2, 0, 0, 0, 0});
  set(node, "nodes_truenodeids", Ints{1, 2, 0, 0, 0, 0});
  set(node, "nodes_falsenodeids", Ints{4, 3, 0, 0, 0, 0});
  set(node, "target_treeids", Ints{0, 0, 0, 7});
  set(node, "target_nodeids", Ints{2, 3, 4, 0});
  set(node, "target_ids", Ints{0, 0, 0, 0});
  set(node, "target_weights", Floats{10, 20, 30, 100});
  if (change) change(node);
  file.output("y");
  return file;
}

onnx::AttributeProto& attribute(onnx::NodeProto& node, const std::string& name) {
  for (auto& one : *node.mutable_attribute()) {
    if (one.name() == name) return one;
  }
  throw std::logic_error(name);
}

const std::vector<float> three_records{1, 3, 1, 2, 1.5F, 9};

Floats sums_of_trees(const Graph& graph) {
  const Session session(graph, {.threads = 1});
  const Tensors values =
      session.run({{graph.inputs()[0], Array::of<float>({3, 2}, three_records)}}, graph.outputs());
  const Array sums = values.at(graph.outputs()[0]).contiguous();
  return {sums.as<float>().begin(), sums.as<float>().end()};
}

TEST(Trees, AddWhatTheirLeavesSay) {
  EXPECT_THAT(sums_of_trees(two_trees().read()), ElementsAre(110, 120, 130));
  const auto mean = [](auto& node) { set(node, "aggregate_function", "AVERAGE"); };
  EXPECT_THAT(sums_of_trees(two_trees(mean).read()), ElementsAre(55, 60, 65));
}

TEST(Trees, AreALayerOfLeavesInFrontOfAProduct) {
  const Session session(two_trees().read());
  const Layer& leaves = session.penultimate_layer();
  EXPECT_EQ(leaves.name, "trees/leaves");
  EXPECT_EQ(leaves.neurons, 4);
  const Graph& graph = session.graph();
  const Forest forest = forest_of(node_of(graph, "trees/leaves"));
  EXPECT_THAT(leaves_below(forest, forest.roots[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(leaves_below(forest, forest.roots[1]), ElementsAre(3));
}

TEST(Trees, AreWrittenAndReadAsTheyAre) {
  const Graph graph = two_trees().read();
  const auto path = fresh_folder("trees") / "trees.onnx";
  write_onnx(graph, path);
  const Graph again = read_model(path);
  EXPECT_EQ(ops(again), ops(graph));
  EXPECT_THAT(sums_of_trees(again), ElementsAre(110, 120, 130));
}

TEST(Trees, ThatAreDamagedAreRefused) {
  const auto refused = [](const Names& parts, const std::function<void(onnx::NodeProto&)>& change,
                          Fault fault = Fault::model) {
    expect_error(fault, parts, [&] { two_trees(change).read(); });
  };
  refused({"'trees'", "tree 0 has no node 9"},
          [](auto& node) { attribute(node, "nodes_truenodeids").set_ints(0, 9); });
  refused({"below two nodes"}, [](auto& node) { attribute(node, "nodes_falsenodeids").set_ints(0, 3); });
  refused({"node 1 twice"}, [](auto& node) { attribute(node, "nodes_nodeids").set_ints(2, 1); });
  refused({"two roots"}, [](auto& node) {
    attribute(node, "nodes_treeids").set_ints(5, 0), attribute(node, "nodes_nodeids").set_ints(5, 9);
  });
  refused({"no comparison 'BRANCH'"},
          [](auto& node) { attribute(node, "nodes_modes").set_strings(0, "BRANCH"); });
  refused({"'nodes_values' has 5"},
          [](auto& node) { attribute(node, "nodes_values").mutable_floats()->RemoveLast(); });
  refused({"result 1 of 1"}, [](auto& node) { attribute(node, "target_ids").set_ints(0, 1); });
  refused(
      {"aggregate_function MAX", "SUM or AVERAGE"},
      [](auto& node) { set(node, "aggregate_function", "MAX"); }, Fault::unsupported);
  refused(
      {"2 base values for 1"},
      [](auto& node) {
        set(node, "base_values", Floats{1, 2});
      },
      Fault::unsupported);
  refused({"results"}, [](auto& node) { set(node, "n_targets", std::int64_t{1} << 40); });
}

TEST(Trees, WhosePathsDoNotEndAreRefused) {
  Forest forest{.nodes = {{.column = 0, .yes = 0, .no = ~std::int64_t{0}}},
                .roots = {0},
                .targets = {0},
                .weights = {1},
                .width = 1};
  const float low = -1, high = 1;
  EXPECT_EQ(leaf_of(forest, 0, &high), 0);
  expect_error(Fault::model, {"does not end"}, [&] { leaf_of(forest, 0, &low); });
}

}  // namespace
}  // namespace assay
