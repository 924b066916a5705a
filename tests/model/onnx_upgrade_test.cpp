// One test per upgrade rule: the old form in, the canonical form out. What the rewritten graphs compute is
// tested in tests/engine/onnx.

#include "assay/model/onnx/upgrades/upgrade.h"

#include <gtest/gtest.h>

#include <set>

#include "onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;

std::vector<std::int64_t> ints_at(const Graph& graph, const std::string& node, std::size_t i) {
  const Array array = constant_input(graph, node, i);
  const auto values = array.as<std::int64_t>();
  return {values.begin(), values.end()};
}

std::vector<float> floats_at(const Graph& graph, const std::string& node, std::size_t i) {
  const Array array = constant_input(graph, node, i);
  const auto values = array.as<float>();
  return {values.begin(), values.end()};
}

// Operators of opset 18 and above are left as they are.
TEST(Upgrade, TheTableIsSortedPerOperatorAndHasNoDeadRule) {
  ASSERT_FALSE(onnx_format::upgrade_rules().empty());
  std::map<std::string_view, int> last;
  for (const auto& rule : onnx_format::upgrade_rules()) {
    EXPECT_GT(rule.since, 1) << rule.op;
    EXPECT_GE(rule.since, last[rule.op]) << rule.op;
    last[rule.op] = rule.since;
  }
}

class AxesAttribute : public testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(AxesAttribute, BecomesAnInput) {
  const auto [op, last] = GetParam();
  for (const int opset : {7, last}) {
    const Graph graph = one_node(opset, op, {-1, 1, 4}, [](auto& n) { set(n, "axes", Ints{1}); }).read();
    EXPECT_EQ(ints_at(graph, "n", 1), Ints{1});
    EXPECT_FALSE(node_of(graph, "n").has("axes"));
  }
  EXPECT_EQ(node_of(one_node(last, op).read(), "n").inputs.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, AxesAttribute,
                         testing::Values(std::pair{"Squeeze", 12}, std::pair{"Unsqueeze", 12},
                                         std::pair{"ReduceSum", 12}, std::pair{"ReduceL1", 17},
                                         std::pair{"ReduceL2", 17}, std::pair{"ReduceLogSum", 17},
                                         std::pair{"ReduceLogSumExp", 17}, std::pair{"ReduceMax", 17},
                                         std::pair{"ReduceMean", 17}, std::pair{"ReduceMin", 17},
                                         std::pair{"ReduceProd", 17}, std::pair{"ReduceSumSquare", 17}),
                         [](const auto& each) { return each.param.first; });

TEST(Upgrade, WhatKerasLeavesOfTensorFlowInItsExports) {
  const Graph graph = one_node(18, "Erfc").read();
  EXPECT_EQ(node_of(graph, "n").op, "Sub");
  EXPECT_EQ(floats_at(graph, "n", 0), std::vector{1.0f});
  const ValueId erf = node_of(graph, "n").inputs[1];
  EXPECT_EQ(graph.node(graph.producer(erf)).op, "Erf");
  for (const char* call : {"StatefulPartitionedCall", "PartitionedCall"})
    expect_error(Fault::unsupported, {"function of TensorFlow", "net.keras"},
                 [&] { one_node(18, call).read(); });
}

TEST(Upgrade, SplitSizesBecomeAnInputAndEqualPartsACount) {
  const auto parts = [](int opset, bool sizes) {
    OnnxFile file(opset);
    file.input("x", {-1, 4});
    file.output("y");
    auto& node = file.node("Split", {"x"}, {"y", "z"}, "n");
    set(node, "axis", std::int64_t{1});
    if (sizes) set(node, "split", Ints{1, 3});
    return file.read();
  };
  EXPECT_EQ(ints_at(parts(11, true), "n", 1), (Ints{1, 3}));
  EXPECT_FALSE(node_of(parts(11, true), "n").has("num_outputs"));
  for (const int opset : {7, 13, 17})
    EXPECT_EQ(node_of(parts(opset, false), "n").integer("num_outputs", 0), 2);
}

TEST(Upgrade, SliceBoundsBecomeInputs) {
  const Graph graph = one_node(9, "Slice", {-1, 4}, [](auto& n) {
                        set(n, "starts", Ints{1});
                        set(n, "ends", Ints{3});
                        set(n, "axes", Ints{1});
                      }).read();
  EXPECT_EQ(ints_at(graph, "n", 1), Ints{1});
  EXPECT_EQ(ints_at(graph, "n", 2), Ints{3});
  EXPECT_EQ(ints_at(graph, "n", 3), Ints{1});
  EXPECT_TRUE(node_of(graph, "n").attributes.empty());
  expect_error(Fault::model, {"'n'", "'ends'"}, [] {
    one_node(9, "Slice", {-1, 4}, [](auto& n) { set(n, "starts", Ints{1}); }).read();
  });
}

TEST(Upgrade, ClipBoundsBecomeInputs) {
  const Graph both = one_node(10, "Clip", {-1, 4}, [](auto& n) {
                       set(n, "min", 0.0f);
                       set(n, "max", 6.0f);
                     }).read();
  EXPECT_EQ(floats_at(both, "n", 1), std::vector{0.0f});
  EXPECT_EQ(floats_at(both, "n", 2), std::vector{6.0f});
  const Graph upper = one_node(7, "Clip", {-1, 4}, [](auto& n) { set(n, "max", 6.0f); }).read();
  EXPECT_EQ(node_of(upper, "n").inputs[1], no_value);
  EXPECT_EQ(floats_at(upper, "n", 2), std::vector{6.0f});
}

TEST(Upgrade, PadsAndValueBecomeInputs) {
  const Graph graph = one_node(10, "Pad", {-1, 4}, [](auto& n) {
                        set(n, "pads", Ints{0, 1, 0, 2});
                        set(n, "value", 0.5f);
                        set(n, "mode", "constant");
                      }).read();
  EXPECT_EQ(ints_at(graph, "n", 1), (Ints{0, 1, 0, 2}));
  EXPECT_EQ(floats_at(graph, "n", 2), std::vector{0.5f});
  EXPECT_EQ(node_of(graph, "n").text("mode", ""), "constant");
}

TEST(Upgrade, DropoutRatioBecomesAnInput) {
  EXPECT_EQ(
      floats_at(one_node(11, "Dropout", {-1, 4}, [](auto& n) { set(n, "ratio", 0.25f); }).read(), "n", 1),
      std::vector{0.25f});
  EXPECT_EQ(floats_at(one_node(7, "Dropout").read(), "n", 1), std::vector{0.5f});
  EXPECT_EQ(node_of(one_node(12, "Dropout").read(), "n").inputs.size(), 1U);
}

TEST(Upgrade, TopKTakesItsCountAsInput) {
  const Graph graph = one_node(9, "TopK", {-1, 4}, [](auto& n) { set(n, "k", std::int64_t{3}); }).read();
  EXPECT_EQ(ints_at(graph, "n", 1), Ints{3});
  expect_error(Fault::model, {"'n'", "'k'"}, [] { one_node(9, "TopK").read(); });
}

void expect_resize_from_corner(const Graph& graph, const std::string& mode) {
  const Node node = node_of(graph, "n");
  EXPECT_EQ(node.op, "Resize");
  EXPECT_EQ(node.inputs[1], no_value);
  EXPECT_EQ(floats_at(graph, "n", 2), (std::vector<float>{1, 1, 2, 2}));
  EXPECT_EQ(node.text("coordinate_transformation_mode", ""), "asymmetric");
  EXPECT_EQ(node.text("nearest_mode", ""), "floor");
  EXPECT_EQ(node.text("mode", "nearest"), mode);
}

TEST(Upgrade, UpsampleAndTheFirstResizeScaleFromTheCorner) {
  expect_resize_from_corner(one_node(7, "Upsample", {-1, 1, 2, 2},
                                     [](auto& n) {
                                       set(n, "scales", std::vector<float>{1, 1, 2, 2});
                                       set(n, "mode", "linear");
                                     })
                                .read(),
                            "linear");
  for (const auto& [opset, op] : {std::pair{9, "Upsample"}, std::pair{10, "Resize"}}) {
    OnnxFile file(opset);
    file.input("x", {-1, 1, 2, 2});
    file.weight(floats("s", {4}, {1, 1, 2, 2}));
    file.output("y");
    file.node(op, {"x", "s"}, {"y"}, "n");
    expect_resize_from_corner(file.read(), "nearest");
  }
}

TEST(Upgrade, EmptyInputsOfResizeAreAbsent) {
  OnnxFile file(11);
  file.input("x", {-1, 1, 2, 2});
  file.weight(floats("none", {0}, {}));
  file.weight(integers("sizes", {1, 1, 4, 4}));
  file.output("y");
  file.node("Resize", {"x", "none", "none", "sizes"}, {"y"}, "n");
  const Graph graph = file.read();
  EXPECT_EQ(node_of(graph, "n").inputs[1], no_value);
  EXPECT_EQ(node_of(graph, "n").inputs[2], no_value);
  EXPECT_EQ(ints_at(graph, "n", 3), (Ints{1, 1, 4, 4}));
  file.proto.mutable_graph()->mutable_node(0)->mutable_input()->RemoveLast();
  expect_error(Fault::model, {"'n'", "exactly one of scales and sizes"}, [&] { file.read(); });
}

TEST(Upgrade, ScatterIsScatterElements) {
  OnnxFile file(9);
  file.input("x", {-1, 4});
  file.input("i", {-1, 1}, onnx::TensorProto::INT64);
  file.input("u", {-1, 1});
  file.output("y");
  file.node("Scatter", {"x", "i", "u"}, {"y"}, "n");
  EXPECT_EQ(node_of(file.read(), "n").op, "ScatterElements");
}

class OldSoftmax : public testing::TestWithParam<const char*> {};

TEST_P(OldSoftmax, OverTheLastAxisIsOneNode) {
  const auto with_axis = [](std::int64_t axis) { return [axis](auto& n) { set(n, "axis", axis); }; };
  for (const Graph& graph : {one_node(12, GetParam(), {-1, 4}).read(),  // axis 1 by default
                             one_node(12, GetParam(), {-1, 2, 4}, with_axis(2)).read(),
                             one_node(11, GetParam(), {-1, 2, 4}, with_axis(-1)).read()}) {
    EXPECT_EQ(ops(graph), std::vector<std::string>{GetParam()});
    EXPECT_EQ(node_of(graph, "n").integer("axis", 0), -1);
  }
}

TEST_P(OldSoftmax, OverSeveralAxesGoesThroughAMatrix) {
  const Graph graph = one_node(12, GetParam(), {-1, 2, 4}).read();
  EXPECT_EQ(ops(graph), (std::vector<std::string>{"Shape", "Flatten", GetParam(), "Reshape"}));
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "y");
}

TEST_P(OldSoftmax, TheRankMayFollowFromTheOperators) {
  OnnxFile file(11);
  file.input("x", {-1, 2, 3});
  file.weight(floats("w", {6, 4}, std::vector<float>(24)));
  file.output("y");
  file.node("Flatten", {"x"}, {"flat"});
  file.node("MatMul", {"flat", "w"}, {"h"});
  file.node("Relu", {"h"}, {"r"});
  file.node(GetParam(), {"r"}, {"y"}, "n");
  EXPECT_EQ(file.read().nodes().size(), 4U);
}

TEST_P(OldSoftmax, AnUnknownRankIsNeverGuessed) {
  OnnxFile file(11);
  file.input("x", {-1, 2, 3});
  file.input("shape", {2}, onnx::TensorProto::INT64);
  file.output("y");
  file.node("Reshape", {"x", "shape"}, {"h"});
  file.node(GetParam(), {"h"}, {"y"}, "n");
  EXPECT_EQ(file.read().nodes().size(), 5U);
  file.output("h", Shape{-1, 6});  // the file may declare it
  EXPECT_EQ(file.read().nodes().size(), 2U);
}

TEST_P(OldSoftmax, FromSet13OnTheAxisStays) {
  const Graph graph =
      one_node(13, GetParam(), {-1, 2, 4}, [](auto& n) { set(n, "axis", std::int64_t{1}); }).read();
  EXPECT_EQ(graph.nodes().size(), 1U);
  EXPECT_EQ(node_of(graph, "n").integer("axis", 0), 1);
}

INSTANTIATE_TEST_SUITE_P(Family, OldSoftmax, testing::Values("Softmax", "LogSoftmax", "Hardmax"),
                         [](const auto& each) { return each.param; });

OnnxFile batch_norm(int opset, const Names& outputs) {
  OnnxFile file(opset);
  file.input("x", {-1, 2, 3});
  for (const char* name : {"scale", "bias", "mean", "variance"}) file.weight(floats(name, {2}, {1, 2}));
  file.output("y");
  file.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, outputs, "n");
  return file;
}

TEST(Upgrade, BatchNormalizationKeepsOneOutputAndStoredStatistics) {
  const Graph old = batch_norm(9, {"y", "m", "v", "sm", "sv"}).read();
  EXPECT_EQ(node_of(old, "n").outputs.size(), 1U);
  ASSERT_EQ(old.notices().size(), 1U);
  EXPECT_NE(old.notices()[0].find("'n'"), std::string::npos);
  OnnxFile file = batch_norm(15, {"y"});
  set(*file.proto.mutable_graph()->mutable_node(0), "training_mode", std::int64_t{1});
  const Graph graph = file.read();
  EXPECT_FALSE(node_of(graph, "n").has("training_mode"));
  EXPECT_EQ(graph.notices().size(), 1U);
  EXPECT_TRUE(batch_norm(9, {"y"}).read().notices().empty());
  OnnxFile two = batch_norm(9, {"h", "m", "v", "sm", "sv"});
  two.node("BatchNormalization", {"h", "scale", "bias", "mean", "variance"}, {"y", "m2"}, "second");
  ASSERT_EQ(two.read().notices().size(), 1U);
  EXPECT_NE(two.read().notices()[0].find("'n' (BatchNormalization) and 1 more"), std::string::npos);
}

TEST(Upgrade, BatchNormalizationPerPositionIsWrittenOut) {
  OnnxFile file = batch_norm(7, {"y"});
  set(*file.proto.mutable_graph()->mutable_node(0), "spatial", std::int64_t{0});
  const Graph graph = file.read();
  EXPECT_EQ(node_of(graph, "n").op, "Add");
  for (const Node& node : graph.nodes()) EXPECT_NE(node.op, "BatchNormalization");
  file.proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_i(1);
  EXPECT_EQ(ops(file.read()), std::vector<std::string>{"BatchNormalization"});
}

TEST(Upgrade, GroupNormalizationGetsOneScalePerChannel) {
  const auto group_norm = [](int opset, std::int64_t channels) {
    OnnxFile file(opset);
    file.input("x", {-1, channels, 3});
    file.weight(floats("scale", {2}, {1, 2}));
    file.weight(floats("bias", {2}, {3, 4}));
    file.output("y");
    set(file.node("GroupNormalization", {"x", "scale", "bias"}, {"y"}, "n"), "num_groups", std::int64_t{2});
    return file.read();
  };
  EXPECT_EQ(ops(group_norm(21, 4)), std::vector<std::string>{"GroupNormalization"});
  EXPECT_EQ(group_norm(18, 4).nodes().size(), 7U);    // Unsqueeze, Expand, Reshape for scale and for bias
  EXPECT_EQ(group_norm(18, -1).nodes().size(), 10U);  // Shape, Div and Concat find the number of channels
}

TEST(Upgrade, TypesNamedByAttributesAreThoseThatAssayHolds) {
  const auto cast_to = [](std::int64_t type) {
    return node_of(one_node(13, "Cast", {-1, 4}, [&](auto& n) { set(n, "to", type); }).read(), "n")
        .integer("to", 0);
  };
  EXPECT_EQ(cast_to(onnx::TensorProto::FLOAT16), onnx::TensorProto::FLOAT);
  EXPECT_EQ(cast_to(onnx::TensorProto::DOUBLE), onnx::TensorProto::FLOAT);
  EXPECT_EQ(cast_to(onnx::TensorProto::UINT16), onnx::TensorProto::INT32);
  EXPECT_EQ(cast_to(onnx::TensorProto::INT64), onnx::TensorProto::INT64);
  expect_error(Fault::unsupported, {"'to'", "'n'", "string"}, [&] { cast_to(onnx::TensorProto::STRING); });
  expect_error(Fault::unsupported, {"'to'", "'n'"}, [&] { cast_to(std::int64_t{1} << 40); });
  const Graph eye =
      one_node(13, "EyeLike", {2, 2}, [](auto& n) { set(n, "dtype", std::int64_t{11}); }).read();
  EXPECT_EQ(node_of(eye, "n").integer("dtype", 0), onnx::TensorProto::FLOAT);
}

TEST(Upgrade, NamesOfNewValuesAvoidThoseOfTheFile) {
  OnnxFile file(9);
  file.input("x", {-1, 4});
  file.output("n/min");
  set(file.node("Clip", {"x"}, {"y"}, "n"), "min", 0.0f);
  file.node("Relu", {"y"}, {"n/min"}, "r");
  const Graph graph = file.read();
  EXPECT_EQ(graph.value(node_of(graph, "n").inputs[1]).name, "n/min_1");
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "n/min");
}

}  // namespace
}  // namespace assay
