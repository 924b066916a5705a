#pragma once

// Networks to mutate, with records, and ways to look at them.

#include <gtest/gtest.h>

#include <functional>

#include <assay/array_math.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include <assay/mutation.h>
#include <assay/session.h>
#include "tests/engine/graphs.h"

namespace assay::test {
using namespace mutation;

// Two layers that keep their shapes, kernels stored both ways round; input [N, 6].
inline Graph square_dense() {
  Net net("square");
  ValueId x = net.input({-1, 6});
  x = net.builder.add("Sigmoid", "first_act", {net.dense("first", x, 6, 6)});
  x = net.builder.add("Gemm", "second", {x, net.weight("second/w", {6, 6}), net.bias("second/b", 6)});
  x = net.relu("second_act", x);
  return net.build(net.builder.add("Softmax", "softmax", {net.dense("logits", x, 6, 3)}));
}

// Groups, a transposed convolution with groups, batch normalisation before a sigmoid, pooling; input [N, 4,
// 6, 6].
inline Graph grouped() {
  Net net("grouped");
  GraphBuilder& b = net.builder;
  ValueId x = net.input({-1, 4, 6, 6});
  x = b.add("Conv", "narrow", {x, net.weight("narrow/w", {6, 2, 3, 3})},
            {{"group", std::int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}});
  x = b.add("Sigmoid", "narrow_act", {net.batch_norm("narrow_bn", x, 6)});
  x = b.add("AveragePool", "pool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  x = b.add("ConvTranspose", "up", {x, net.weight("up/w", {6, 2, 2, 2}), net.bias("up/b", 4)},
            {{"group", std::int64_t{2}}, {"strides", Ints{2, 2}}});
  x = b.add("LeakyRelu", "up_act", {x});
  return net.build(net.dense("logits", net.flatten("flatten", x), 144, 3));
}

// A recurrent operator in one or two directions over [N, 5, 3] (batch first), its last state, a dense layer.
inline Graph recurrent_layers(const std::string& op, std::int64_t gates, bool both) {
  Net net(op);
  const std::int64_t directions = both ? 2 : 1, hidden = 4;
  const ValueId x =
      net.builder.add("Transpose", "time_first", {net.input({-1, 5, 3})}, {{"perm", Ints{1, 0, 2}}});
  const ValueId w = net.weight("cell/w", {directions, gates * hidden, 3}),
                r = net.weight("cell/r", {directions, gates * hidden, hidden});
  const ValueId bias =
      net.builder.constant("cell/b", random_array(net.rng, {directions, 2 * gates * hidden}, 0.3));
  const ValueId state = net.builder.value("state");
  net.builder.node({.name = "cell",
                    .op = op,
                    .inputs = {x, w, r, bias},
                    .outputs = {no_value, state},
                    .attributes = {{"hidden_size", hidden},
                                   {"direction", std::string(both ? "bidirectional" : "forward")}}});
  const ValueId batch_first = net.builder.add("Transpose", "batch_first", {state}, {{"perm", Ints{1, 0, 2}}});
  const ValueId flat =
      net.builder.add("Reshape", "flat",
                      {batch_first, net.builder.constant("flat/shape", integers({0, directions * hidden}))});
  return net.build(net.dense("logits", flat, directions * hidden, 3));
}

// Two layers read the same weights and one bias serves as two; input [N, 5].
inline Graph tied_weights() {
  Net net("shared");
  GraphBuilder& b = net.builder;
  const ValueId x = net.input({-1, 5}), w = net.weight("w", {5, 5}), bias = net.bias("b", 5);
  const ValueId first = net.relu("first_act", b.add("Gemm", "first", {x, w, bias}));
  const ValueId second = b.add("Tanh", "second_act", {b.add("Gemm", "second", {first, w, bias})});
  return net.build(net.dense("logits", second, 5, 3));
}

// Weights in front of columns of activations; input [N, 5, 1].
inline Graph columns() {
  Net net("columns");
  GraphBuilder& b = net.builder;
  ValueId x = b.add("MatMul", "hidden", {net.weight("w1", {6, 5}), net.input({-1, 5, 1})});
  x = net.relu("hidden_act", b.add("Add", "hidden_bias", {x, net.weight("b1", {6, 1})}));
  x = net.relu("second_act", b.add("MatMul", "second", {net.weight("w2", {4, 6}), x}));
  return net.build(net.dense("logits", net.flatten("flat", x), 4, 3));
}

// One record's shape, or tokens.
inline Array records_for(const Graph& graph, std::int64_t count, std::uint64_t seed = 3) {
  const Value& input = graph.value(graph.inputs()[0]);
  Shape shape = input.shape;
  shape[0] = count;
  Rng rng(seed);
  if (input.dtype == DType::int64)
    return array::remainder(array::arange(element_count(shape), DType::int64), 11).reshape(shape);
  return random_array(rng, shape).clone();
}

inline Array value_of(const Graph& graph, const Array& records, ValueId wanted) {
  const Session session(graph, {.threads = 1});
  return session.run({{graph.inputs()[0], records}}, std::span(&wanted, 1)).at(wanted);
}

inline Array output_of(const Graph& graph, const Array& records) {
  return value_of(graph, records, graph.outputs()[0]);
}

inline double difference(const Array& a, const Array& b) {
  EXPECT_EQ(a.shape(), b.shape());
  return a.shape() == b.shape() ? (a - b).abs().max().item<double>() : 1e9;
}

inline Subject subject_of(const Graph& graph) { return Subject(Session(graph, {.threads = 1})); }

inline Mutant mutant(const std::string& op, const std::string& layer, std::uint64_t seed = 1) {
  return {.op = parse_spec("mutation operator", op), .layer = layer, .seed = seed};
}

struct Network {
  std::string name;
  std::function<Graph()> build;
};

inline const std::vector<Network>& networks() {
  static const std::vector<Network> all{
      {"lenet", [] { return lenet_like(); }},
      {"resnet", resnet_like},
      {"branches", branching},
      {"transformer", transformer_like},
      {"lstm", lstm_like},
      {"square", square_dense},
      {"grouped", grouped},
      {"bilstm", [] { return recurrent_layers("LSTM", 4, true); }},
      {"onebias", [] { return one_bias(recurrent_layers("LSTM", 4, true), "cell"); }},
      {"gru", [] { return recurrent_layers("GRU", 3, false); }},
      {"rnn", [] { return recurrent_layers("RNN", 1, true); }},
      {"shared", tied_weights},
      {"columns", columns},
  };
  return all;
}

}  // namespace assay::test
