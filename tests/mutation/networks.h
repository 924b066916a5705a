#pragma once

// Small networks with random weights for tests of mutation.

#include <cmath>

#include <assay/array_math.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include <assay/session.h>

namespace assay::testing_mutation {
using namespace mutation;

using Ints = std::vector<std::int64_t>;

class Weights {
 public:
  explicit Weights(GraphBuilder& build) : build_(build) {}
  ValueId operator()(const std::string& name, Shape shape, double scale = 0.4) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& v : values) v = static_cast<float>(rng_.normal() * scale);
    return build_.constant(name, Array::of<float>(std::move(shape), values));
  }
  ValueId ones(const std::string& name, std::int64_t count) {
    return build_.constant(name,
                           Array::of<float>({count}, std::vector<float>(static_cast<std::size_t>(count), 1)));
  }

 private:
  GraphBuilder& build_;
  Rng rng_{7};
};

// conv 4, relu, pool, conv 6, relu, dense 8, relu, dense 3.
inline Graph small_cnn() {
  GraphBuilder b("small-cnn");
  Weights w(b);
  ValueId x = b.input("x", DType::float32, {-1, 2, 8, 8});
  x = b.add("Relu", "relu1", {b.add("Conv", "conv1", {x, w("w1", {4, 2, 3, 3}), w("b1", {4})})});
  x = b.add("MaxPool", "pool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  x = b.add("Relu", "relu2", {b.add("Conv", "conv2", {x, w("w2", {6, 4, 2, 2}), w("b2", {6})})});
  x = b.add("Flatten", "flat", {x});
  x = b.add("Relu", "relu3",
            {b.add("Gemm", "fc1", {x, w("w3", {8, 24}), w("b3", {8})}, {{"transB", std::int64_t{1}}})});
  b.output(b.add("Gemm", "logits", {x, w("w4", {3, 8}), w("b4", {3})}, {{"transB", std::int64_t{1}}}));
  return b.build();
}

// A residual block with batch normalisation, global pooling, MatMul and Add.
inline Graph residual_cnn() {
  GraphBuilder b("residual-cnn");
  Weights w(b);
  ValueId x = b.input("x", DType::float32, {-1, 2, 6, 6});
  const auto norm = [&](const std::string& name, ValueId in) {
    return b.add(
        "BatchNormalization", name,
        {in, w.ones(name + "_g", 4), w(name + "_b", {4}), w(name + "_m", {4}), w.ones(name + "_v", 4)});
  };
  const auto conv = [&](const std::string& name, ValueId in, std::int64_t channels) {
    return b.add("Conv", name, {in, w(name + "_w", {4, channels, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
  };
  x = b.add("Relu", "relu1", {norm("norm1", conv("conv1", x, 2))});
  const ValueId inner = norm("norm2", conv("conv2", x, 4));
  const ValueId shortcut = conv("conv3", x, 4);
  x = b.add("Relu", "relu3", {b.add("Add", "sum", {b.add("Relu", "relu2", {inner}), shortcut})});
  x = b.add("Flatten", "flat", {b.add("GlobalAveragePool", "gap", {x})});
  b.output(b.add("Add", "logits", {b.add("MatMul", "dense", {x, w("wd", {4, 3}, 2)}), w("bd", {3})}));
  return b.build();
}

// [N, 5, 3] -> LSTM of 4 over the middle axis -> last state -> dense 3.
inline Graph recurrent() {
  GraphBuilder b("recurrent");
  Weights w(b);
  const ValueId x = b.input("x", DType::float32, {-1, 5, 3});
  const ValueId sequence = b.add("Transpose", "to_time", {x}, {{"perm", Ints{1, 0, 2}}});
  const ValueId y = b.value("lstm_all"), h = b.value("lstm_last");
  b.node({"lstm",
          "LSTM",
          {sequence, w("W", {1, 16, 3}), w("R", {1, 16, 4}), w("B", {1, 32})},
          {y, h},
          {{"hidden_size", std::int64_t{4}}}});
  const ValueId last = b.add("Squeeze", "last", {h, b.constant("axes", Array::of<std::int64_t>({1}, {0}))});
  b.output(b.add("Gemm", "dense", {last, w("wd", {4, 3}, 2), w("bd", {3})}));
  return b.build();
}

// Two dense layers whose one kernel comes through an Identity node.
inline Graph shared_weights() {
  GraphBuilder b("shared-weights");
  Weights w(b);
  ValueId x = b.input("x", DType::float32, {-1, 3});
  const ValueId kernel = b.add("Identity", "rename", {w("kernel", {3, 3})});
  x = b.add("Tanh", "tanh", {b.add("MatMul", "first", {x, kernel})});
  b.output(b.add("MatMul", "second", {x, kernel}));
  return b.build();
}

// Four of eleven tokens with positions, masked attention of one head, a classifier.
inline Graph language() {
  GraphBuilder b("language");
  Weights w(b);
  const auto numbers = [&](const std::string& name, const Ints& values) {
    return b.constant(name, Array::of<std::int64_t>({std::ssize(values)}, values));
  };
  const ValueId words =
      b.add("Gather", "words", {w("table", {11, 6}, 1), b.input("input_ids", DType::int64, {-1, 4})});
  const ValueId places =
      b.add("Slice", "places",
            {w("rows", {8, 6}, 1), numbers("begin", {0}), numbers("end", {4}), numbers("axis", {0})});
  const ValueId x = b.add("LayerNormalization", "norm",
                          {b.add("Add", "placed", {words, places}), w.ones("gain", 6), w("shift", {6})},
                          {{"axis", std::int64_t{-1}}});
  const ValueId keys =
      b.add("Transpose", "keys", {b.add("MatMul", "key", {x, w("k", {6, 6})})}, {{"perm", Ints{0, 2, 1}}});
  std::vector<float> later(16, 0);
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t column = row + 1; column < 4; ++column) later[row * 4 + column] = -1e9F;
  const ValueId scores = b.add("MatMul", "scores", {b.add("MatMul", "query", {x, w("q", {6, 6})}), keys});
  const ValueId masked =
      b.add("Add", "masked", {scores, b.constant("causal", Array::of<float>({1, 4, 4}, later))});
  const ValueId weights = b.add("Softmax", "attention", {masked}, {{"axis", std::int64_t{-1}}});
  const ValueId mixed = b.add("MatMul", "mixed", {weights, b.add("MatMul", "value", {x, w("v", {6, 6})})});
  const ValueId out = b.add("Add", "out", {x, b.add("MatMul", "projection", {mixed, w("o", {6, 6})})});
  b.output(b.add("MatMul", "logits", {b.add("Flatten", "flat", {out}), w("head", {24, 3})}));
  return b.build();
}

// The same with weights that are 127 steps at most, as of a quantised network.
inline Graph stepped(const Graph& graph) {
  GraphBuilder edit(graph);
  for (const ValueId value : graph.value_ids()) {
    if (!graph.is_constant(value) || graph.constant(value).dtype() != DType::float32) continue;
    const auto given = graph.constant(value).as<float>();
    std::vector<float> values(given.begin(), given.end());
    float most = 0;
    for (const float v : values) most = std::max(most, std::abs(v));
    for (float& v : values) v = most > 0 ? std::nearbyint(v / (most / 127)) * (most / 127) : v;
    edit.replace_constant(value, Array::of<float>(graph.constant(value).shape(), values));
  }
  return edit.build();
}
inline Graph quantised_cnn() { return stepped(small_cnn()); }

// A network whose file says that two records run at a time.
inline Graph fixed_batch() {
  GraphBuilder b("fixed-batch");
  Weights w(b);
  ValueId x = b.input("x", DType::float32, {2, 2, 3});
  x = b.add("Reshape", "flat", {x, b.constant("shape", Array::of<std::int64_t>({2}, {2, 6}))});
  x = b.add("Relu", "relu", {b.add("Gemm", "fc", {x, w("w1", {6, 5}), w("b1", {5})})});
  b.output(b.add("Gemm", "logits", {x, w("w2", {5, 3}, 2), w("b2", {3})}));
  return b.build();
}

inline Tensors inputs_of(const Session& session, std::int64_t rows) {
  const ValueId id = session.graph().inputs()[0];
  std::vector<std::int64_t> shape = session.graph().value(id).shape;
  shape[0] = rows;
  const std::int64_t count = element_count(shape);
  if (session.graph().value(id).dtype == DType::int64)
    return {{id, array::remainder(array::arange(count, DType::int64), 11).reshape(shape)}};
  std::vector<float> values(static_cast<std::size_t>(count));
  Rng rng(static_cast<std::uint64_t>(rows));
  for (float& v : values) v = static_cast<float>(rng.normal());
  return {{id, array::tensor(values).reshape(shape)}};
}

}  // namespace assay::testing_mutation
