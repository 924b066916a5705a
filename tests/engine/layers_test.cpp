#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <assay/error.h>
#include <assay/session.h>
#include "tests/engine/graphs.h"

namespace assay {
namespace {

using test::Ints;
using ::testing::ElementsAre;

// "name: op [shape] neurons".
std::vector<std::string> table(const Session& session) {
  std::vector<std::string> rows;
  for (const Layer& layer : session.layers()) {
    rows.push_back(fmt::format("{}: {} {} {}{}", layer.name, layer.op, to_string(layer.shape), layer.neurons,
                               layer.carries_weights ? " *" : ""));
  }
  return rows;
}

TEST(Layers, OfAConvolutionalNetwork) {
  const Session session(test::lenet_like(true));
  EXPECT_THAT(table(session), ElementsAre("conv1: Conv + Relu [4, 10, 10] 4 *", "pool1: MaxPool [4, 5, 5] 4",
                                          "conv2: Conv + Relu [6, 5, 5] 6 *", "pool2: MaxPool [6, 2, 2] 6",
                                          "dense1: Gemm + Relu [10] 10 *", "logits: Gemm + Softmax [5] 5 *"));
  EXPECT_EQ(session.layers()[0].parameters, 4 * 9 + 4);
  EXPECT_EQ(session.graph().value(session.layers()[0].value).name, "relu1");
  EXPECT_EQ(session.graph().value(session.layers()[0].linear_value).name, "conv1");
  EXPECT_EQ(session.penultimate_layer().name, "dense1");
}

TEST(Layers, OfAResidualNetworkTakeInBatchNormalisation) {
  const Session session(test::resnet_like());
  EXPECT_THAT(
      table(session),
      ElementsAre("stem: Conv + BatchNormalization + Relu [4, 8, 8] 4 *",
                  "a1: Conv + BatchNormalization + Relu [4, 8, 8] 4 *",
                  "a2: Conv + BatchNormalization [4, 8, 8] 4 *", "a_add: Add + Relu [4, 8, 8] 4",
                  "b1: Conv + BatchNormalization + Relu [8, 4, 4] 8 *",
                  "b2: Conv + BatchNormalization [8, 4, 4] 8 *",
                  "projection: Conv + BatchNormalization [8, 4, 4] 8 *", "b_add: Add + Relu [8, 4, 4] 8",
                  "pool: GlobalAveragePool [8, 1, 1] 8", "logits: Gemm [5] 5 *"));
  EXPECT_EQ(session.layers()[0].parameters, 3 * 4 * 9 + 4 * 4);
  EXPECT_EQ(session.penultimate_layer().name, "b2");  // on the longest path, not the projection beside it
}

TEST(Layers, OfATransformerSeeThroughSpeltOutFunctions) {
  const Session session(test::transformer_like());
  EXPECT_THAT(table(session),
              ElementsAre("query: MatMul + Add [4, 6] 6 *", "key: MatMul + Add [4, 6] 6 *",
                          "value: MatMul + Add [4, 6] 6 *", "scores: MatMul + Div + Softmax [2, 4, 4] 4 *",
                          "context: MatMul [2, 4, 3] 3 *", "projection: MatMul + Add [4, 6] 6 *",
                          "residual: Add [4, 6] 6", "ln_mean: Normalisation + Mul + Add [4, 6] 6",
                          "up: MatMul + Add + Gelu [4, 8] 8 *", "down: MatMul + Add [4, 6] 6 *",
                          "residual2: Add [4, 6] 6", "pooled: ReduceMean [6] 6", "logits: Gemm [3] 3 *"));
  EXPECT_EQ(session.graph().value(session.layer("up").value).name, "gelu_half");
  EXPECT_EQ(session.graph().value(session.layer("up").linear_value).name, "up_bias");
}

TEST(Layers, OfARecurrentNetworkKnowTheBatchAxis) {
  const Session session(test::lstm_like());
  EXPECT_THAT(table(session),
              ElementsAre("embedding: Gather [7, 6] 6", "lstm: LSTM [7, 1, 5] 5 *", "logits: Gemm [4] 4 *"));
  const Layer& lstm = session.layer("lstm");
  EXPECT_EQ(lstm.batch_axis, 2);
  EXPECT_THAT(lstm.neuron_axes, ElementsAre(1, 3));
}

TEST(Layers, WithPositionsMergedIntoTheBatch) {
  test::Net net("merged");
  const ValueId x = net.input({-1, 3, 4});
  const ValueId rows =
      net.builder.add("Reshape", "rows", {x, net.builder.constant("shape", test::integers({-1, 4}))});
  const Session session(net.build(net.relu("relu", net.dense("dense", rows, 4, 5))));
  const Layer& dense = session.layer("dense");
  EXPECT_EQ(dense.batch_multiple, 3);
  EXPECT_EQ(dense.neurons, 5);
}

TEST(Layers, OfColumnsCountWhatTheWeightsInFrontMake) {
  test::Net net("columns");
  GraphBuilder& b = net.builder;
  ValueId x = b.add("MatMul", "hidden", {net.weight("w1", {6, 5}), net.input({-1, 5, 1})});
  x = net.relu("relu", b.add("Add", "bias", {x, net.weight("b1", {6, 1})}));
  x = b.add("MatMul", "rows",
            {b.add("Transpose", "turned", {x}, {{"perm", Ints{0, 2, 1}}}), net.weight("w2", {6, 4})});
  x = b.add("Reshape", "column", {x, b.constant("shape", test::integers({-1, 4, 1}))});
  x = b.add("GlobalMaxPool", "pool", {x});
  const Session session(net.build(net.dense("logits", net.flatten("flat", x), 4, 3)));
  EXPECT_THAT(table(session), ElementsAre("hidden: MatMul + Add + Relu [6, 1] 6 *", "rows: MatMul [1, 4] 4 *",
                                          "pool: GlobalMaxPool [4, 1] 4", "logits: Gemm [3] 3 *"));
}

TEST(Layers, OfRecordsAlongTheLastAxisAreTheRows) {
  test::Net net("turned");
  GraphBuilder& b = net.builder;
  const ValueId x = b.add("Transpose", "turned", {net.input({-1, 5})}, {{"perm", Ints{1, 0}}});
  const ValueId rows = b.add("Gemm", "hidden", {net.weight("w", {5, 6}), x, net.weight("bias", {6, 1})},
                             {{"transA", std::int64_t{1}}});
  const Session session(net.build(b.add("Transpose", "back", {rows}, {{"perm", Ints{1, 0}}})));
  EXPECT_EQ(session.layer("hidden").batch_axis, 1);
  EXPECT_EQ(session.layer("hidden").neurons, 6);
}

TEST(Layers, CarryTheirKindActivationAndRange) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Session lenet(test::lenet_like(true)), transformer(test::transformer_like());
  EXPECT_EQ(lenet.layer("conv1").kind, OperatorKind::convolution);
  EXPECT_EQ(lenet.layer("conv1").activation, "Relu");
  EXPECT_EQ(lenet.layer("conv1").range, (ValueRange{0, infinity}));
  EXPECT_EQ(lenet.layer("pool1").activation, "");
  EXPECT_EQ(lenet.layer("pool1").range, ValueRange());
  EXPECT_EQ(lenet.layer("logits").activation, "Softmax");
  EXPECT_EQ(lenet.layer("logits").range, (ValueRange{0, 1}));
  EXPECT_EQ(transformer.layer("up").activation, "Gelu");  // spelt out, so only its name is a guess at it
  EXPECT_EQ(transformer.layer("up").range, ValueRange());
  EXPECT_EQ(transformer.layer("ln_mean").kind, OperatorKind::normalisation);

  test::Net net("relu6");
  const auto number = [&](float x) { return net.builder.constant({}, Array::of<float>({}, {x})); };
  const ValueId dense = net.dense("dense", net.input({-1, 4}), 4, 3);
  const ValueId clip = net.builder.add("Clip", "clip", {dense, number(0), number(6)});
  const Session relu6(net.build(net.builder.add("Tanh", "tanh", {clip})));
  EXPECT_EQ(relu6.layer("dense").range, (ValueRange{0, 6}));
  EXPECT_EQ(relu6.layer("tanh").kind, OperatorKind::activation);  // a layer of its own
  EXPECT_EQ(relu6.layer("tanh").activation, "Tanh");
  EXPECT_EQ(relu6.layer("tanh").range, (ValueRange{-1, 1}));
}

TEST(Layers, AreFoundByNameValueAndIndex) {
  const Session session(test::lenet_like());
  EXPECT_EQ(session.layer("dense1").name, "dense1");
  EXPECT_EQ(session.layer("relu2").name, "conv2");
  EXPECT_EQ(session.layer("1").name, "pool1");
  EXPECT_EQ(session.layer("-1").name, "logits");
  try {
    session.layer("dens1");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("did you mean 'dense1'?"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("conv1, pool1"));
  }
  EXPECT_THROW(session.layer("99"), Error);
}

TEST(Decision, IsTheValueBeforeTheSoftmax) {
  const Session with(test::lenet_like(true)), without(test::lenet_like(false));
  EXPECT_TRUE(with.ends_in_softmax());
  EXPECT_FALSE(without.ends_in_softmax());
  EXPECT_EQ(with.graph().value(with.logits()).name, "logits");
  EXPECT_EQ(without.graph().value(without.logits()).name, "logits");
}

TEST(Decision, IsFoundPastNodesThatChangeNothing) {
  test::Net net("tail");
  ValueId x = net.dense("dense", net.input({-1, 4}), 4, 3);
  x = net.builder.add("Softmax", "softmax", {x});
  x = net.builder.add("Identity", "same", {x});
  x = net.builder.add("Reshape", "again", {x, net.builder.constant("shape", test::integers({-1, 3}))});
  const Session session(net.build(x));
  EXPECT_TRUE(session.ends_in_softmax());
  EXPECT_EQ(session.graph().value(session.logits()).name, "dense");
}

TEST(Decision, KeepsASigmoid) {
  test::Net net("binary");
  const Session session(
      net.build(net.builder.add("Sigmoid", "p", {net.dense("dense", net.input({-1, 4}), 4, 1)})));
  EXPECT_FALSE(session.ends_in_softmax());
  EXPECT_TRUE(session.ends_in_sigmoid());
  EXPECT_EQ(session.graph().value(session.logits()).name, "p");
}

}  // namespace
}  // namespace assay
