#include <assay/extend/operator_traits.h>
#include <assay/model.h>

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(OperatorTraits, AreSortedAndEachOperatorIsThereOnce) {
  const auto all = operator_traits();
  ASSERT_GT(all.size(), 100U);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].op, all[i].op);
  for (const OperatorTraits& one : all) EXPECT_EQ(traits_of(one.op), &one) << one.op;
}

TEST(OperatorTraits, OfAnUnknownOperatorAreNone) {
  for (const std::string_view op : {"", "Abz", "Zzz", "relu", "Conv + Relu"}) {
    EXPECT_EQ(traits_of(op), nullptr) << op;
    EXPECT_FALSE(has_trait(op, Trait::linear) || is_activation(op) || is_elementwise(op) || is_weighted(op));
    const Node node{.name = "n", .op = std::string(op), .inputs = {}, .outputs = {}, .attributes = {}};
    EXPECT_EQ(range_of(Graph(), node), ValueRange());
  }
}

TEST(OperatorTraits, DoNotContradictEachOther) {
  for (const OperatorTraits& one : operator_traits()) {
    const bool bounded = one.range != ValueRange() || one.range_of != nullptr;
    EXPECT_LE(one.range.low, one.range.high) << one.op;
    EXPECT_TRUE(!bounded || is_activation(one.op)) << one.op;
    EXPECT_TRUE(!one.range_of || one.range == ValueRange()) << one.op;
    EXPECT_TRUE(!one.has(Trait::monotone) || one.kind == OperatorKind::activation) << one.op;
    EXPECT_TRUE(!one.has(Trait::rectifies) || (one.has(Trait::monotone) && bounded)) << one.op;
    EXPECT_TRUE(!one.has(Trait::by_channel) || one.has(Trait::same_rank)) << one.op;
    EXPECT_FALSE(one.has(Trait::strong_gate) && one.has(Trait::weak_gate)) << one.op;
    EXPECT_FALSE(one.has(Trait::linear) && one.has(Trait::bilinear)) << one.op;
    const bool counts = one.kind == OperatorKind::truth || one.kind == OperatorKind::index ||
                        one.kind == OperatorKind::generator;
    EXPECT_EQ(one.has(Trait::cuts_relevance), counts || one.op == "Sign") << one.op;
  }
}

TEST(OperatorTraits, TellKindsApart) {
  EXPECT_TRUE(is_weighted("Conv") && is_weighted("Gemm") && is_weighted("LSTM"));
  EXPECT_FALSE(is_weighted("BatchNormalization"));
  EXPECT_TRUE(is_activation("Softmax") && is_activation("Relu"));
  EXPECT_FALSE(is_activation("Exp"));
  EXPECT_TRUE(is_elementwise("Relu") && is_elementwise("Exp") && is_elementwise("Add"));
  EXPECT_FALSE(is_elementwise("Softmax") || is_elementwise("Equal"));
  EXPECT_TRUE(is_sigmoid("Sigmoid") && is_sigmoid("HardSigmoid"));
  EXPECT_FALSE(is_sigmoid("Softmax") || is_sigmoid("Tanh") || is_sigmoid("Clip"));
}

// Of the node that `add` puts behind an input.
ValueRange range_behind_input(const std::string& op, std::map<std::string, Attribute> attributes,
                              const std::vector<std::optional<float>>& numbers = {}) {
  GraphBuilder builder;
  std::vector<ValueId> inputs{builder.input("x", DType::float32, {-1, 3})};
  for (const auto& number : numbers)
    inputs.push_back(number ? builder.constant({}, Array::of<float>({}, {*number})) : no_value);
  builder.output(builder.add(op, "f", std::move(inputs), std::move(attributes)));
  const Graph graph = builder.build();
  return range_of(graph, graph.nodes()[0]);
}

TEST(ValueRanges, FollowAttributesAndConstants) {
  EXPECT_EQ(range_behind_input("Relu", {}), (ValueRange{0, infinity}));
  EXPECT_EQ(range_behind_input("LeakyRelu", {}), ValueRange());
  EXPECT_EQ(range_behind_input("Clip", {}, {0.0F, 6.0F}), (ValueRange{0, 6}));
  EXPECT_EQ(range_behind_input("Clip", {}, {std::nullopt, 1.0F}), (ValueRange{-infinity, 1}));
  EXPECT_EQ(range_behind_input("Clip", {}), ValueRange());
  EXPECT_EQ(range_behind_input("Elu", {{"alpha", 2.0F}}), (ValueRange{-2, infinity}));
  EXPECT_EQ(range_behind_input("Elu", {{"alpha", -2.0F}}), (ValueRange{0, infinity}));
  EXPECT_EQ(range_behind_input("Celu", {{"alpha", -2.0F}}), ValueRange());
  EXPECT_EQ(range_behind_input("ThresholdedRelu", {}), (ValueRange{0, infinity}));
  EXPECT_EQ(range_behind_input("ThresholdedRelu", {{"alpha", -0.5F}}), (ValueRange{-0.5, infinity}));
}

TEST(ValueRanges, AreOpenWhereABoundIsComputed) {
  GraphBuilder builder;
  const ValueId x = builder.input("x", DType::float32, {-1, 3});
  const ValueId low = builder.input("low", DType::float32, {});
  builder.output(builder.add("Clip", "clip", {x, low}));
  const Graph graph = builder.build();
  EXPECT_EQ(range_of(graph, graph.nodes()[0]), ValueRange());
}

}  // namespace
}  // namespace assay
