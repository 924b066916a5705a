#pragma once

// Small networks with random weights, built by hand, one per kind of architecture. Shared by the tests of
// everything that stands on the engine.

#include <cmath>
#include <string>
#include <vector>

#include <assay/extend/random.h>
#include <assay/graph.h>
#include <assay/model.h>

namespace assay::test {

// Normal numbers with standard deviation `scale`.
inline Array random_array(Rng& rng, Shape shape, double scale = 1) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(scale * rng.normal());
  return Array::of<float>(std::move(shape), values);
}

inline Array uniform_array(Rng& rng, Shape shape, double low = 0, double high = 1) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(rng.uniform(low, high));
  return Array::of<float>(std::move(shape), values);
}

inline Array integers(const std::vector<std::int64_t>& values) {
  return Array::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

using Attributes = std::map<std::string, Attribute>;
using Ints = std::vector<std::int64_t>;

// A GraphBuilder with weights.
class Net {
 public:
  explicit Net(std::string name, std::uint64_t seed = 1) : rng(seed), builder(std::move(name)) {}

  ValueId input(Shape shape, DType dtype = DType::float32) {
    return builder.input("input", dtype, std::move(shape));
  }
  ValueId weight(const std::string& name, Shape shape) {
    std::int64_t fan_in = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
    return builder.constant(name,
                            random_array(rng, std::move(shape), 1 / std::sqrt(static_cast<double>(fan_in))));
  }
  ValueId bias(const std::string& name, std::int64_t size) {
    return builder.constant(name, random_array(rng, {size}, 0.1));
  }
  ValueId conv(const std::string& name, ValueId x, std::int64_t in, std::int64_t out, std::int64_t kernel,
               Attributes attributes = {}, bool with_bias = true) {
    std::vector<ValueId> inputs{x, weight(name + "/w", {out, in, kernel, kernel})};
    if (with_bias) inputs.push_back(bias(name + "/b", out));
    attributes.insert({"kernel_shape", Ints{kernel, kernel}});
    return builder.add("Conv", name, std::move(inputs), std::move(attributes));
  }
  ValueId batch_norm(const std::string& name, ValueId x, std::int64_t channels) {
    const ValueId scale = builder.constant(name + "/scale", uniform_array(rng, {channels}, 0.5, 1.5));
    const ValueId mean = bias(name + "/mean", channels);
    const ValueId variance = builder.constant(name + "/variance", uniform_array(rng, {channels}, 0.5, 1.5));
    return builder.add("BatchNormalization", name,
                       {x, scale, bias(name + "/shift", channels), mean, variance});
  }
  ValueId relu(const std::string& name, ValueId x) { return builder.add("Relu", name, {x}); }
  ValueId max_pool(const std::string& name, ValueId x) {
    return builder.add("MaxPool", name, {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  }
  ValueId flatten(const std::string& name, ValueId x) { return builder.add("Flatten", name, {x}); }
  ValueId dense(const std::string& name, ValueId x, std::int64_t in, std::int64_t out) {
    return builder.add("Gemm", name, {x, weight(name + "/w", {out, in}), bias(name + "/b", out)},
                       {{"transB", std::int64_t{1}}});
  }
  Graph build(ValueId output) {
    builder.output(output);
    return builder.build();
  }

  Rng rng;
  GraphBuilder builder;
};

// Layer normalisation over the last axis with "gamma" and "beta", as files before operator set 17 have it.
inline ValueId spelt_out_layer_norm(Net& net, ValueId x, std::int64_t size) {
  GraphBuilder& b = net.builder;
  const Attributes last{{"axes", Ints{-1}}};
  const ValueId centred = b.add("Sub", "centred", {x, b.add("ReduceMean", "mean", {x}, last)});
  const ValueId two = b.constant("two", Array::of<float>({}, std::vector<float>{2}));
  const ValueId variance = b.add("ReduceMean", "variance", {b.add("Pow", "squares", {centred, two})}, last);
  const ValueId tiny = b.constant("tiny", Array::of<float>({}, std::vector<float>{1e-5F}));
  const ValueId unit =
      b.add("Div", "unit", {centred, b.add("Sqrt", "spread", {b.add("Add", "sum", {variance, tiny})})});
  const ValueId scaled = b.add("Mul", "scaled", {unit, b.constant("gamma", random_array(net.rng, {size}))});
  return b.add("Add", "norm", {scaled, net.bias("beta", size)});
}

// conv 4, pool, conv 6, pool, dense 10, dense 5; input [N, 1, 12, 12].
inline Graph lenet_like(bool softmax = false, std::int64_t batch = -1) {
  Net net("lenet");
  ValueId x = net.input({batch, 1, 12, 12});
  x = net.max_pool("pool1", net.relu("relu1", net.conv("conv1", x, 1, 4, 3)));
  x = net.max_pool("pool2", net.relu("relu2", net.conv("conv2", x, 4, 6, 3, {{"pads", Ints{1, 1, 1, 1}}})));
  x = net.flatten("flatten", x);
  x = net.relu("relu3", net.dense("dense1", x, 24, 10));
  x = net.dense("logits", x, 10, 5);
  if (softmax) x = net.builder.add("Softmax", "softmax", {x});
  return net.build(x);
}

// Stem, one identity block, one block with stride and projection, global pooling, dense; input [N, 3, 8, 8].
inline Graph resnet_like() {
  Net net("resnet");
  const Attributes same{{"pads", Ints{1, 1, 1, 1}}};
  const Attributes half{{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}};
  ValueId x = net.input({-1, 3, 8, 8});
  x = net.relu("stem_relu", net.batch_norm("stem_bn", net.conv("stem", x, 3, 4, 3, same, false), 4));
  ValueId y = net.relu("a1_relu", net.batch_norm("a1_bn", net.conv("a1", x, 4, 4, 3, same, false), 4));
  y = net.batch_norm("a2_bn", net.conv("a2", y, 4, 4, 3, same, false), 4);
  x = net.relu("a_out", net.builder.add("Add", "a_add", {y, x}));
  y = net.relu("b1_relu", net.batch_norm("b1_bn", net.conv("b1", x, 4, 8, 3, half, false), 8));
  y = net.batch_norm("b2_bn", net.conv("b2", y, 8, 8, 3, same, false), 8);
  const ValueId skip = net.conv("projection", x, 4, 8, 1, {{"strides", Ints{2, 2}}}, false);
  x = net.relu("b_out", net.builder.add("Add", "b_add", {y, net.batch_norm("projection_bn", skip, 8)}));
  x = net.flatten("flatten", net.builder.add("GlobalAveragePool", "pool", {x}));
  return net.build(net.dense("logits", x, 8, 5));
}

// Branches that meet in a concatenation, groups, asymmetric padding, pooling with ceil mode, a view computed
// from shapes as exporters write it; input [N, 4, 9, 7].
inline Graph branching() {
  Net net("branches");
  GraphBuilder& b = net.builder;
  const ValueId x = net.input({-1, 4, 9, 7});
  const ValueId grouped = b.add("Conv", "grouped", {x, net.weight("grouped/w", {8, 2, 3, 3})},
                                {{"group", std::int64_t{2}}, {"pads", Ints{0, 1, 2, 1}}});
  const ValueId wide = net.conv("wide", x, 4, 4, 3, {{"pads", Ints{2, 2, 2, 2}}, {"dilations", Ints{2, 2}}});
  const ValueId joined =
      b.add("Concat", "joined", {b.add("LeakyRelu", "leaky", {grouped}), b.add("Sigmoid", "gate", {wide})},
            {{"axis", std::int64_t{1}}});
  const ValueId pooled =
      b.add("AveragePool", "pooled", {joined},
            {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"ceil_mode", std::int64_t{1}}});
  const ValueId sizes = b.add("Shape", "sizes", {pooled});
  const ValueId rows =
      b.add("Gather", "rows", {sizes, b.constant("zero", integers({0}))}, {{"axis", std::int64_t{0}}});
  const ValueId target =
      b.add("Concat", "target", {rows, b.constant("rest", integers({-1}))}, {{"axis", std::int64_t{0}}});
  const ValueId flat = b.add("Reshape", "view", {pooled, target});
  return net.build(
      net.dense("logits", net.builder.add("Tanh", "tanh", {net.dense("hidden", flat, 12 * 5 * 4, 9)}), 9, 3));
}

// Tokens [N, 7] -> embedding 6 -> LSTM 5 (time first inside) -> last state -> dense 4.
inline Graph lstm_like() {
  Net net("lstm");
  const ValueId tokens = net.input({-1, 7}, DType::int64);
  const ValueId embedded = net.builder.add("Gather", "embedding", {net.weight("table", {11, 6}), tokens});
  const ValueId sequence = net.builder.add("Transpose", "time_first", {embedded}, {{"perm", Ints{1, 0, 2}}});
  const ValueId y = net.builder.value("lstm");
  net.builder.node({.name = "lstm",
                    .op = "LSTM",
                    .inputs = {sequence, net.weight("lstm/w", {1, 20, 6}), net.weight("lstm/r", {1, 20, 5}),
                               net.builder.constant("lstm/b", random_array(net.rng, {1, 40}, 0.1))},
                    .outputs = {y},
                    .attributes = {{"hidden_size", std::int64_t{5}}}});
  const ValueId last = net.builder.add(
      "Gather", "last",
      {y, net.builder.constant("last/index", Array::of<std::int64_t>({}, std::vector<std::int64_t>{-1}))},
      {{"axis", std::int64_t{0}}});
  const ValueId state =
      net.builder.add("Squeeze", "squeeze", {last, net.builder.constant("squeeze/axes", integers({0}))});
  return net.build(net.dense("logits", state, 5, 4));
}

// The same network with one bias for both parts of its recurrent node, as Keras has it: the first half.
inline Graph one_bias(const Graph& graph, const std::string& node) {
  GraphBuilder edit(graph);
  const NodeId cell_id = graph.find_node(node).value();
  Node cell = graph.node(cell_id);
  const Array& both = graph.constant(cell.inputs[3]);
  const std::int64_t directions = both.shape()[0], width = both.shape()[1] / 2;
  std::vector<float> first;
  for (std::int64_t d = 0; d < directions; ++d) {
    const auto begin = both.as<float>().begin() + 2 * d * width;
    first.insert(first.end(), begin, begin + width);
  }
  const ValueId one = edit.constant("one", Array::of<float>({directions, width}, first));
  cell.inputs[3] = edit.add("Pad", "biases", {one, edit.constant("pads", integers({0, 0, 0, width}))});
  edit.replace_node(cell_id, std::move(cell));
  return edit.build();
}

// One transformer block as exporters write it, with GELU and layer normalisation spelt out; input [N, 4, 6].
inline Graph transformer_like() {
  Net net("transformer");
  GraphBuilder& b = net.builder;
  const ValueId x = net.input({-1, 4, 6});
  const auto scalar = [&](const std::string& name, float value) {
    return b.constant(name, Array::of<float>({}, std::vector<float>{value}));
  };
  const auto linear = [&](const std::string& name, ValueId in, std::int64_t from, std::int64_t to) {
    const ValueId product = b.add("MatMul", name, {in, net.weight(name + "/w", {from, to})});
    return b.add("Add", name + "_bias", {product, net.bias(name + "/b", to)});
  };
  const auto heads = [&](const std::string& name, ValueId in, Ints order) {
    const ValueId split =
        b.add("Reshape", name + "_split", {in, b.constant(name + "/split", integers({0, 0, 2, 3}))});
    return b.add("Transpose", name + "_heads", {split}, {{"perm", std::move(order)}});
  };
  const ValueId query = heads("q", linear("query", x, 6, 6), {0, 2, 1, 3});
  const ValueId key = heads("k", linear("key", x, 6, 6), {0, 2, 3, 1});
  const ValueId value = heads("v", linear("value", x, 6, 6), {0, 2, 1, 3});
  const ValueId scores =
      b.add("Div", "scaled", {b.add("MatMul", "scores", {query, key}), scalar("sqrt_d", 1.7320508f)});
  const ValueId context = b.add(
      "MatMul", "context", {b.add("Softmax", "attention", {scores}, {{"axis", std::int64_t{-1}}}), value});
  const ValueId merged = b.add("Reshape", "merge",
                               {b.add("Transpose", "unheads", {context}, {{"perm", Ints{0, 2, 1, 3}}}),
                                b.constant("merge/shape", integers({0, 0, 6}))});
  const ValueId residual = b.add("Add", "residual", {x, linear("projection", merged, 6, 6)});
  // Layer normalisation.
  const Attributes last{{"axes", Ints{-1}}};
  const ValueId axes = b.constant("axes", integers({-1}));
  const ValueId centred =
      b.add("Sub", "ln_sub", {residual, b.add("ReduceMean", "ln_mean", {residual, axes})});
  const ValueId square = b.add("Pow", "ln_pow", {centred, scalar("two", 2)});
  const ValueId variance =
      b.add("Add", "ln_eps", {b.add("ReduceMean", "ln_variance", {square, axes}), scalar("eps", 1e-5f)});
  const ValueId normal = b.add("Div", "ln_div", {centred, b.add("Sqrt", "ln_sqrt", {variance})});
  const ValueId scaled =
      b.add("Mul", "ln_scale", {normal, b.constant("ln/scale", uniform_array(net.rng, {6}, 0.5, 1.5))});
  const ValueId shifted = b.add("Add", "ln_shift", {scaled, net.bias("ln/shift", 6)});
  // Feed forward with GELU.
  const ValueId hidden = linear("up", shifted, 6, 8);
  const ValueId erf = b.add("Erf", "erf", {b.add("Div", "erf_scale", {hidden, scalar("sqrt2", 1.4142135f)})});
  const ValueId gate = b.add("Add", "erf_shift", {erf, scalar("one", 1)});
  const ValueId gelu =
      b.add("Mul", "gelu_half", {b.add("Mul", "gelu", {hidden, gate}), scalar("half", 0.5f)});
  const ValueId down = b.add("Add", "residual2", {shifted, linear("down", gelu, 8, 6)});
  const ValueId pooled = b.add("ReduceMean", "pooled", {down, b.constant("pool/axes", integers({1}))},
                               {{"keepdims", std::int64_t{0}}});
  return net.build(net.dense("logits", pooled, 6, 3));
}

// Numbers that exporters compute from the shape of a value: one of its sizes, as a list of one.
inline ValueId size_of(Net& net, const std::string& name, ValueId value, std::int64_t axis) {
  const ValueId sizes = net.builder.add("Shape", name + "_shape", {value});
  return net.builder.add("Gather", name, {sizes, net.builder.constant(name + "/axis", integers({axis}))});
}

// Attention as PyTorch exports it: steps in front of records ([4, N, 6]), heads as further records ([2 N, 4,
// 3]), steps and records as rows of one matrix ([4 N, 6]), slices and shapes computed from shapes; input [N,
// 4, 6].
inline Graph sequence_first() {
  Net net("sequence_first");
  GraphBuilder& b = net.builder;
  const auto list = [&](const std::string& name, std::vector<std::int64_t> numbers) {
    return b.constant(name, integers(numbers));
  };
  const ValueId input = net.input({-1, 4, 6});
  const ValueId x = b.add("Transpose", "steps_first", {input}, {{"perm", Ints{1, 0, 2}}});
  const ValueId all = b.add(
      "Add", "qkv_bias", {net.bias("qkv/b", 18), b.add("MatMul", "qkv", {x, net.weight("qkv/w", {6, 18})})});
  const ValueId steps = size_of(net, "steps", x, 0), records = size_of(net, "records", x, 1);
  const ValueId third = b.add("Div", "third", {size_of(net, "width", all, -1), list("three", {3})});
  const ValueId rows = b.add("Mul", "head_rows", {records, list("heads", {2})});
  const auto part = [&](const std::string& name, std::int64_t i) {
    const ValueId from = b.add("Mul", name + "_from", {third, list(name + "/i", {i})}),
                  to = b.add("Mul", name + "_to", {third, list(name + "/next", {i + 1})});
    const ValueId slice = b.add("Slice", name + "_slice", {all, from, to, list(name + "/axes", {2})});
    const ValueId shape = b.add("Concat", name + "_sizes", {steps, rows, list(name + "/size", {3})},
                                {{"axis", std::int64_t{0}}});
    return b.add("Reshape", name, {slice, shape});
  };
  const ValueId query = b.add("Transpose", "queries", {part("q", 0)}, {{"perm", Ints{1, 0, 2}}}),
                key = b.add("Transpose", "keys", {part("k", 1)}, {{"perm", Ints{1, 2, 0}}}),
                value = b.add("Transpose", "values", {part("v", 2)}, {{"perm", Ints{1, 0, 2}}});
  const ValueId attention =
      b.add("Softmax", "attention", {b.add("MatMul", "scores", {query, key})}, {{"axis", std::int64_t{-1}}});
  const ValueId back =
      b.add("Transpose", "back", {b.add("MatMul", "context", {attention, value})}, {{"perm", Ints{1, 0, 2}}});
  const ValueId matrix = b.add("Concat", "matrix_sizes",
                               {b.add("Mul", "matrix_rows", {steps, records}), list("matrix/width", {6})},
                               {{"axis", std::int64_t{0}}});
  const ValueId flat = net.dense("projection", b.add("Reshape", "matrix", {back, matrix}), 6, 6);
  const ValueId sequence = b.add("Concat", "sequence_sizes", {steps, records, list("sequence/width", {6})},
                                 {{"axis", std::int64_t{0}}});
  const ValueId projected = b.add("Reshape", "sequence", {flat, sequence});
  const ValueId joined =
      b.add("Add", "residual",
            {b.add("Transpose", "records_first", {projected}, {{"perm", Ints{1, 0, 2}}}), input});
  const ValueId normal = b.add("LayerNormalization", "norm", {joined, net.weight("norm/scale", {6})});
  const ValueId pooled =
      b.add("ReduceMean", "pooled", {normal, list("pool/axes", {1})}, {{"keepdims", std::int64_t{0}}});
  return net.build(net.dense("logits", pooled, 6, 3));
}

// Attention in windows of 2 x 2, each of which is a row of its own ([4 N, 4, 3]), with a number added to each
// pair of places of a window and to each window; input [N, 4, 4, 3].
inline Graph windowed() {
  Net net("windowed");
  GraphBuilder& b = net.builder;
  const auto shaped = [&](const std::string& name, ValueId in, std::vector<std::int64_t> shape) {
    return b.add("Reshape", name, {in, b.constant(name + "/shape", integers(shape))});
  };
  const ValueId x = net.input({-1, 4, 4, 3});
  const Ints swapped{0, 1, 3, 2, 4, 5};
  const ValueId parts =
      b.add("Transpose", "parts", {shaped("cut", x, {-1, 2, 2, 2, 2, 3})}, {{"perm", swapped}});
  const ValueId windows = shaped("windows", parts, {-1, 4, 3});
  const ValueId all = b.add("MatMul", "qkv", {windows, net.weight("qkv/w", {3, 18})});
  const ValueId apart =
      b.add("Transpose", "apart", {shaped("thirds", all, {-1, 4, 3, 2, 3})}, {{"perm", Ints{2, 0, 3, 1, 4}}});
  const auto part = [&](const std::string& name, std::int64_t i) {
    return b.add("Gather", name,
                 {apart, b.constant(name + "/i", Array::of<std::int64_t>({}, std::vector{i}))},
                 {{"axis", std::int64_t{0}}});
  };
  const ValueId key = b.add("Transpose", "keys", {part("k", 1)}, {{"perm", Ints{0, 1, 3, 2}}});
  const ValueId near =
      b.add("Add", "near",
            {b.add("MatMul", "scores", {part("q", 0), key}), net.weight("near/table", {1, 2, 4, 4})});
  const ValueId masked = b.add(
      "Add", "masked", {shaped("by_window", near, {-1, 4, 2, 4, 4}), net.weight("mask", {1, 4, 1, 4, 4})});
  const ValueId attention =
      b.add("Softmax", "attention", {shaped("by_row", masked, {-1, 2, 4, 4})}, {{"axis", std::int64_t{-1}}});
  const ValueId context = b.add("Transpose", "context", {b.add("MatMul", "mixed", {attention, part("v", 2)})},
                                {{"perm", Ints{0, 2, 1, 3}}});
  const ValueId merged = shaped("merged", context, {-1, 4, 6});
  const ValueId out = b.add("MatMul", "projection", {merged, net.weight("projection/w", {6, 3})});
  const ValueId picture =
      b.add("Transpose", "picture", {shaped("uncut", out, {-1, 2, 2, 2, 2, 3})}, {{"perm", swapped}});
  const ValueId joined = b.add("Add", "residual", {shaped("whole", picture, {-1, 4, 4, 3}), x});
  const ValueId hidden = b.add("Tanh", "tanh", {net.dense("hidden", net.flatten("flatten", joined), 48, 5)});
  return net.build(net.dense("logits", hidden, 5, 3));
}

}  // namespace assay::test
