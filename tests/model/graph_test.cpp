#include <assay/graph.h>

#include <gtest/gtest.h>

#include <algorithm>

#include <assay/model.h>
#include "assay/model/backwards.h"
#include "assay/model/element_type.h"
#include "onnx_build.h"

namespace assay {
namespace {

using testing_onnx::expect_error;
using testing_onnx::ops;

// x -> fc1 (w1) -> relu -> fc2 (w2) -> y
struct Small {
  Small() {
    x = builder.input("x", DType::float32, {-1, 2});
    w1 = builder.constant("w1", Array::of<float>({2, 2}, {1, 2, 3, 4}));
    w2 = builder.constant("w2", Array::of<float>({2, 2}, {5, 6, 7, 8}));
    h = builder.add("MatMul", "fc1", {x, w1});
    r = builder.add("Relu", "relu", {h});
    y = builder.add("MatMul", "fc2", {r, w2});
    builder.output(y);
  }
  GraphBuilder builder{"small"};
  ValueId x, w1, w2, h, r, y;
};

TEST(GraphBuilder, ReplacedWeightsLeaveTheOthersShared) {
  Small small;
  const Graph graph = small.builder.build();
  GraphBuilder edit(graph);
  edit.replace_constant(small.w1, Array::of<float>({2, 2}, {0, 0, 0, 0}));
  const Graph mutant = edit.build();
  EXPECT_TRUE(mutant.constant(small.w2).shares_storage(graph.constant(small.w2)));
  EXPECT_FALSE(mutant.constant(small.w1).shares_storage(graph.constant(small.w1)));
  EXPECT_EQ(graph.constant(small.w1).as<float>()[3], 4);
  EXPECT_NE(mutant.hash(), graph.hash());
  edit.replace_constant(small.w1, graph.constant(small.w1));
  EXPECT_EQ(edit.build().hash(), graph.hash());
  expect_error(Fault::model, {"'x'", "not a constant"},
               [&] { edit.replace_constant(small.x, graph.constant(small.w1)); });
}

TEST(GraphBuilder, HoldsElementsOfTheTypesThatAreComputedWith) {
  for (const auto& [type, held] : {std::pair(DType::float16, "float32"),
                                   {DType::bfloat16, "float32"},
                                   {DType::int16, "int32"},
                                   {DType::uint16, "int32"},
                                   {DType::uint32, "int64"},
                                   {DType::uint64, "int64"}}) {
    GraphBuilder builder("g");
    expect_error(Fault::unsupported, {"'x'", to_string(type), held, "convert them"}, [&] {
      builder.input("x", type, {-1, 2});
    });
    expect_error(Fault::unsupported, {"'w'", to_string(type), held},
                 [&] { builder.constant("w", Array::zeros(type, {2})); });
  }
}

TEST(GraphBuilder, InsertedNodesComeBetweenAValueAndItsReaders) {
  Small small;
  GraphBuilder edit(small.builder.build());
  const ValueId out = edit.insert_after(small.h, "Neg", "negate");
  const Graph graph = edit.build();
  EXPECT_EQ(ops(graph), (std::vector<std::string>{"MatMul", "Neg", "Relu", "MatMul"}));
  EXPECT_EQ(graph.nodes()[1].inputs, std::vector{small.h});
  EXPECT_EQ(graph.nodes()[2].inputs, std::vector{out});
  EXPECT_EQ(graph.value(out).name, "negate");
}

TEST(GraphBuilder, InsertingAfterAnOutputMovesTheOutput) {
  Small small;
  GraphBuilder edit(small.builder.build());
  const ValueId out = edit.insert_after(small.y, "Softmax", "softmax", {}, {{"axis", std::int64_t{-1}}});
  const Graph graph = edit.build();
  EXPECT_EQ(graph.outputs()[0], out);
  EXPECT_EQ(graph.nodes().back().op, "Softmax");
}

TEST(GraphBuilder, ANodeThatReadsItsValueTwiceStaysInPlaceWhenInserted) {
  Small small;
  GraphBuilder edit(small.builder.build());
  edit.insert_after(small.h, "Mul", "square", {small.h});
  const Graph graph = edit.build();
  EXPECT_EQ(graph.nodes()[1].inputs, (std::vector{small.h, small.h}));
}

TEST(GraphBuilder, RemovedNodesAreBypassed) {
  Small small;
  const Graph before = small.builder.build();
  GraphBuilder edit(before);
  edit.remove_node(*before.find_node("relu"));
  const Graph graph = edit.build();
  EXPECT_EQ(ops(graph), (std::vector<std::string>{"MatMul", "MatMul"}));
  EXPECT_EQ(graph.nodes()[1].inputs[0], small.h);
  EXPECT_FALSE(graph.find_node("relu"));
  expect_error(Fault::model, {"removed"}, [&] { edit.remove_node(*before.find_node("relu")); });
  expect_error(Fault::model, {"no node 99"}, [&] { edit.replace_node(NodeId{99}, {}); });
}

TEST(GraphBuilder, ARemovedNodesNameIsFreeAgain) {
  Small small;
  const Graph before = small.builder.build();
  GraphBuilder edit(before);
  edit.remove_node(*before.find_node("relu"));
  edit.insert_after(small.h, "Tanh", "relu");
  EXPECT_EQ(edit.build().nodes()[1].op, "Tanh");
}

TEST(GraphBuilder, ReplacedNodesKeepTheirNameUnlessGivenAnother) {
  Small small;
  const Graph before = small.builder.build();
  GraphBuilder edit(before);
  Node tanh = before.nodes()[1];
  tanh.op = "Tanh";
  tanh.name.clear();
  edit.replace_node(NodeId{1}, tanh);
  EXPECT_EQ(edit.build().nodes()[1].name, "relu");
  tanh.name = "tanh";
  edit.replace_node(NodeId{1}, tanh);
  const Graph graph = edit.build();
  EXPECT_EQ(graph.find_node("tanh"), NodeId{1});
  EXPECT_FALSE(graph.find_node("relu"));
  tanh.name = "fc1";
  expect_error(Fault::model, {"two nodes are named 'fc1'"}, [&] { edit.replace_node(NodeId{1}, tanh); });
}

TEST(GraphBuilder, CyclesAreRefusedWithTheNodesName) {
  GraphBuilder builder;
  const ValueId x = builder.input("x", DType::float32, {-1});
  const ValueId a = builder.value("a"), b = builder.value("b");
  builder.node({.name = "first", .op = "Add", .inputs = {x, b}, .outputs = {a}, .attributes = {}});
  builder.node({.name = "second", .op = "Relu", .inputs = {a}, .outputs = {b}, .attributes = {}});
  builder.output(b);
  expect_error(Fault::model, {"cycle", "'first'"}, [&] { static_cast<void>(builder.build()); });
}

TEST(GraphBuilder, ASelfLoopIsACycle) {
  GraphBuilder builder;
  const ValueId a = builder.value("a");
  builder.node({.name = "loop", .op = "Relu", .inputs = {a}, .outputs = {a}, .attributes = {}});
  builder.output(a);
  expect_error(Fault::model, {"cycle", "'loop'"}, [&] { static_cast<void>(builder.build()); });
}

TEST(GraphBuilder, WhatIsMissingOrTwiceIsNamed) {
  Small small;
  expect_error(Fault::model, {"two values are named 'x'"}, [&] { small.builder.value("x"); });
  expect_error(Fault::model, {"two nodes are named 'relu'"},
               [&] { small.builder.add("Relu", "relu", {small.x}); });
  GraphBuilder missing;
  missing.output(missing.add("Relu", "r", {missing.value("ghost")}));
  expect_error(Fault::model, {"'r'", "'ghost'", "no node"}, [&] { static_cast<void>(missing.build()); });
  GraphBuilder ghost_output;
  ghost_output.output(ghost_output.value("ghost"));
  expect_error(Fault::model, {"'ghost'"}, [&] { static_cast<void>(ghost_output.build()); });
  expect_error(Fault::model, {"no outputs"}, [] { static_cast<void>(GraphBuilder("g").build()); });
  GraphBuilder out_of_range;
  out_of_range.output(ValueId{7});
  expect_error(Fault::model, {"value 7"}, [&] { static_cast<void>(out_of_range.build()); });
}

TEST(GraphBuilder, AValueIsProducedOnce) {
  Small small;
  small.builder.node(
      {.name = "again", .op = "Relu", .inputs = {small.x}, .outputs = {small.h}, .attributes = {}});
  expect_error(Fault::model, {"'again'", "'fc1'", "twice"},
               [&] { static_cast<void>(small.builder.build()); });
  Small other;
  other.builder.node(
      {.name = "to_weight", .op = "Relu", .inputs = {other.x}, .outputs = {other.w1}, .attributes = {}});
  expect_error(Fault::model, {"'to_weight'", "'w1'"}, [&] { static_cast<void>(other.builder.build()); });
}

TEST(GraphBuilder, SortsAndDropsWhatNoOutputNeeds) {
  GraphBuilder builder;
  const ValueId x = builder.input("x", DType::float32, {-1});
  const ValueId late = builder.value("late");
  const ValueId y = builder.add("Relu", "reader", {late});
  builder.add("Neg", "useless", {x});
  builder.node({.name = "writer", .op = "Abs", .inputs = {x}, .outputs = {late}, .attributes = {}});
  builder.output(y);
  const Graph graph = builder.build();
  EXPECT_EQ(ops(graph), (std::vector<std::string>{"Abs", "Relu"}));
  EXPECT_EQ(graph.producer(y), NodeId{1});
  EXPECT_EQ(graph.producer(x), no_node);
  EXPECT_TRUE(std::ranges::equal(graph.consumers(late), std::vector{NodeId{1}}));
}

TEST(GraphBuilder, ALongChainNeedsNoStack) {
  GraphBuilder builder;
  ValueId last = builder.input("x", DType::float32, {-1});
  for (int i = 0; i < 200'000; ++i) last = builder.add("Relu", {}, {last});
  builder.output(last);
  EXPECT_EQ(builder.build().nodes().size(), 200'000U);
}

TEST(GraphBuilder, FreshNamesAvoidTakenOnesInLinearTime) {
  GraphBuilder builder;
  for (int i = 100'000; i < 200'000; ++i) builder.value("value_" + std::to_string(i));
  for (int i = 0; i < 100'000; ++i) builder.value({});
  EXPECT_EQ(builder.values().size(), 200'000U);
}

TEST(Graph, FindsByName) {
  Small small;
  const Graph graph = small.builder.build();
  EXPECT_EQ(graph.find_value("relu"), small.r);
  EXPECT_EQ(graph.find_node("fc2"), NodeId{2});
  EXPECT_FALSE(graph.find_value("fc"));
  EXPECT_FALSE(graph.find_value("zzz"));
  EXPECT_FALSE(graph.find_node(""));
  EXPECT_EQ(graph.parameter_count(), 8);
}

TEST(Graph, IdsAscendAndCanBeWalkedBackwards) {
  const Graph graph = Small().builder.build();
  std::vector<std::string> names, reversed;
  for (const NodeId n : graph.node_ids()) names.push_back(graph.node(n).name);
  for (const NodeId n : backwards(graph.node_ids())) reversed.push_back(graph.node(n).name);
  EXPECT_EQ(names, (std::vector<std::string>{"fc1", "relu", "fc2"}));
  EXPECT_EQ(reversed, (std::vector<std::string>{"fc2", "relu", "fc1"}));
  std::size_t next = 0;
  for (const ValueId id : graph.value_ids()) EXPECT_EQ(index_of(id), next++);
  EXPECT_EQ(next, graph.values().size());
}

TEST(Graph, HashCoversNamesTypesAttributesAndWeights) {
  const auto hash_with = [](const std::function<void(Small&)>& change) {
    Small small;
    change(small);
    return small.builder.build().hash();
  };
  const std::string base = hash_with([](Small&) {});
  EXPECT_EQ(base, hash_with([](Small&) {}));
  EXPECT_EQ(base, hash_with([](Small& s) { s.builder.constant("unread", Array::of<float>({1}, {1.0f})); }));
  EXPECT_NE(base, hash_with([](Small& s) {
              s.builder.replace_constant(s.w1, Array::of<float>({4}, {1, 2, 3, 4}));
            }));
  const auto relu_with = [&](const Attribute& attribute) {
    return hash_with([&](Small& s) {
      Node node = s.builder.nodes()[1];
      node.attributes["alpha"] = attribute;
      s.builder.replace_node(NodeId{1}, node);
    });
  };
  EXPECT_NE(relu_with(std::int64_t{1}), relu_with(1.0f));
  EXPECT_NE(relu_with(std::int64_t{1}), relu_with(std::int64_t{2}));
  EXPECT_NE(relu_with(std::string("1")), base);
}

TEST(Graph, HashDoesNotDependOnTheOrderOfValues) {
  const auto build = [](bool swapped) {
    GraphBuilder builder;
    const ValueId x = builder.input("x", DType::float32, {-1});
    const auto make = [&](const char* name, float v) {
      return builder.constant(name, Array::of<float>({1}, {v}));
    };
    const ValueId first = swapped ? make("b", 2) : make("a", 1),
                  second = swapped ? make("a", 1) : make("b", 2);
    builder.output(builder.add("Sum", "sum", {x, swapped ? second : first, swapped ? first : second}));
    return builder.build().hash();
  };
  EXPECT_EQ(build(false), build(true));
}

TEST(Node, AttributesOfAnotherTypeAreNamed) {
  const Node node{.name = "n", .op = "Conv", .inputs = {}, .outputs = {}, .attributes = {{"group", 1.0f}}};
  expect_error(Fault::model, {"node 'n' (Conv)", "'group'", "wrong type"}, [&] { node.integer("group", 1); });
  EXPECT_EQ(node.integer("absent", 5), 5);
  EXPECT_EQ(node.real("group", 0), 1.0f);
}

TEST(ElementTypes, FollowFromTheOperators) {
  GraphBuilder builder;
  const ValueId x = builder.input("x", DType::float32, {-1, 4});
  const ValueId index = builder.add("ArgMax", "index", {x});
  const ValueId larger = builder.add("Greater", "larger", {x, x});
  const ValueId cast = builder.add("Cast", "cast", {larger}, {{"to", std::int64_t{6}}});
  const ValueId chosen = builder.add("Where", "chosen", {larger, index, index});
  const ValueId filled =
      builder.add("ConstantOfShape", "filled", {index}, {{"value", Array::of<std::int32_t>({1}, {3})}});
  for (const ValueId id : {index, larger, cast, chosen, filled}) builder.output(id);
  const auto types = element_types(builder.build());
  EXPECT_EQ(types.at(static_cast<std::size_t>(index)), DType::int64);
  EXPECT_EQ(types.at(static_cast<std::size_t>(larger)), DType::boolean);
  EXPECT_EQ(types.at(static_cast<std::size_t>(cast)), DType::int32);
  EXPECT_EQ(types.at(static_cast<std::size_t>(chosen)), DType::int64);
  EXPECT_EQ(types.at(static_cast<std::size_t>(filled)), DType::int32);
}

}  // namespace
}  // namespace assay
