#pragma once

// Networks for benchmarks: the published LeNet-5 shape, a VGG-like CIFAR network, a small ResNet, ResNet-18,
// dense layers as of ACAS Xu, recurrent ones and transformers, with random weights (speed does not depend on
// their values).

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <assay/extend/random.h>
#include <assay/graph.h>
#include <assay/model.h>

namespace assay::bench {

class NetworkMaker {
 public:
  NetworkMaker(std::string name, std::int64_t channels, std::int64_t side)
      : build_(std::move(name)),
        at_(build_.input("input", DType::float32, {-1, channels, side, side})),
        channels_(channels),
        side_(side) {}

  NetworkMaker& conv(std::int64_t out, std::int64_t kernel, std::int64_t pad, std::int64_t stride = 1) {
    const ValueId w = random({out, channels_, kernel, kernel}), b = random({out});
    using Ints = std::vector<std::int64_t>;
    at_ = build_.add("Conv", fresh("conv"), {at_, w, b},
                     {{"pads", Ints(4, pad)}, {"strides", Ints{stride, stride}}});
    channels_ = out;
    side_ = (side_ + 2 * pad - kernel) / stride + 1;
    return *this;
  }
  NetworkMaker& norm() {
    const auto vector = [&](float v) {
      return build_.constant(
          "", Array::of<float>({channels_}, std::vector<float>(static_cast<std::size_t>(channels_), v)));
    };
    const ValueId gamma = vector(1), beta = vector(0), mean = vector(0), variance = vector(1);
    at_ = build_.add("BatchNormalization", fresh("norm"), {at_, gamma, beta, mean, variance});
    return *this;
  }
  NetworkMaker& relu() {
    at_ = build_.add("Relu", fresh("relu"), {at_});
    return *this;
  }
  NetworkMaker& pool() {
    using Ints = std::vector<std::int64_t>;
    at_ =
        build_.add("MaxPool", fresh("pool"), {at_}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
    side_ /= 2;
    return *this;
  }
  NetworkMaker& global_pool() {
    at_ = build_.add("GlobalAveragePool", fresh("pool"), {at_});
    side_ = 1;
    return *this;
  }
  NetworkMaker& flatten() {
    at_ = build_.add("Flatten", fresh("flatten"), {at_});
    channels_ *= side_ * side_;
    side_ = 1;
    return *this;
  }
  NetworkMaker& dense(std::int64_t out) {
    const ValueId w = random({out, channels_}), b = random({out});
    at_ = build_.add("Gemm", fresh("dense"), {at_, w, b}, {{"transB", std::int64_t{1}}});
    channels_ = out;
    return *this;
  }
  // Two 3x3 convolutions beside a shortcut, as in ResNet.
  NetworkMaker& residual(std::int64_t out, std::int64_t stride) {
    const ValueId before = at_;
    const std::int64_t channels = channels_, side = side_;
    conv(out, 3, 1, stride).norm().relu().conv(out, 3, 1).norm();
    const ValueId main = at_;
    at_ = before;
    if (stride != 1 || out != channels) {
      channels_ = channels;
      side_ = side;
      conv(out, 1, 0, stride).norm();
    }
    at_ = build_.add("Add", fresh("add"), {main, at_});
    return relu();
  }
  Graph done() {
    build_.output(at_);
    return build_.build();
  }

 private:
  std::string fresh(const std::string& kind) { return kind + std::to_string(++count_); }
  ValueId random(Shape shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    const double scale = std::sqrt(2.0 * static_cast<double>(shape[0]) / static_cast<double>(values.size()));
    for (float& v : values) v = static_cast<float>(rng_.normal() * scale);
    return build_.constant("", Array::of<float>(std::move(shape), values));
  }

  GraphBuilder build_;
  ValueId at_;
  std::int64_t channels_, side_;
  int count_ = 0;
  Rng rng_{1};
};

inline Graph lenet5() {
  return NetworkMaker("LeNet-5", 1, 28)
      .conv(6, 5, 0)
      .relu()
      .pool()
      .conv(16, 5, 0)
      .relu()
      .pool()
      .flatten()
      .dense(120)
      .relu()
      .dense(84)
      .relu()
      .dense(10)
      .done();
}
inline Graph vgg() {
  return NetworkMaker("VGG-like", 3, 32)
      .conv(64, 3, 1)
      .relu()
      .conv(64, 3, 1)
      .relu()
      .pool()
      .conv(128, 3, 1)
      .relu()
      .conv(128, 3, 1)
      .relu()
      .pool()
      .conv(256, 3, 1)
      .relu()
      .conv(256, 3, 1)
      .relu()
      .pool()
      .flatten()
      .dense(256)
      .relu()
      .dense(10)
      .done();
}
inline Graph resnet() {
  return NetworkMaker("ResNet", 3, 32)
      .conv(16, 3, 1)
      .norm()
      .relu()
      .residual(16, 1)
      .residual(32, 2)
      .residual(64, 2)
      .global_pool()
      .flatten()
      .dense(10)
      .done();
}
inline Graph resnet18() {
  return NetworkMaker("ResNet-18", 3, 64)
      .conv(64, 7, 3, 2)
      .norm()
      .relu()
      .pool()
      .residual(64, 1)
      .residual(64, 1)
      .residual(128, 2)
      .residual(128, 1)
      .residual(256, 2)
      .residual(256, 1)
      .residual(512, 2)
      .residual(512, 1)
      .global_pool()
      .flatten()
      .dense(1000)
      .done();
}
inline Graph acas() {
  NetworkMaker maker("ACAS-like", 5, 1);
  maker.flatten();
  for (int layer = 0; layer < 6; ++layer) maker.dense(50).relu();
  return maker.dense(5).done();
}

// The rows of a picture read one after the other by an LSTM or GRU; a dense layer on its last state.
inline Graph rows_of_digits(const std::string& op, std::int64_t units) {
  constexpr std::int64_t side = 28;
  Rng rng(1);
  GraphBuilder build(op + "-" + std::to_string(units));
  const auto random = [&](const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = static_cast<float>(0.1 * rng.normal());
    return build.constant("", Array::of<float>(shape, values));
  };
  const auto integers = [&](const std::vector<std::int64_t>& values) {
    return build.constant("", Array::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
  };
  using Ints = std::vector<std::int64_t>;
  const ValueId picture = build.input("input", DType::float32, {-1, 1, side, side});
  const ValueId rows = build.add("Reshape", "rows", {picture, integers({-1, side, side})});
  const ValueId steps = build.add("Transpose", "steps", {rows}, {{"perm", Ints{1, 0, 2}}});
  const std::int64_t gates = (op == "LSTM" ? 4 : 3) * units;
  const ValueId last = build.value("last");
  std::map<std::string, Attribute> attributes{{"hidden_size", units}};
  if (op == "GRU") attributes["linear_before_reset"] = std::int64_t{1};
  build.node({.name = "cell",
              .op = op,
              .inputs = {steps, random({1, gates, side}), random({1, gates, units}), random({1, 2 * gates})},
              .outputs = {no_value, last},
              .attributes = attributes});
  const ValueId state = build.add("Squeeze", "state", {last, integers({0})});
  build.output(build.add("MatMul", "scores", {state, random({units, 10})}));
  return build.build();
}

// The rows of a picture as tokens of a transformer; a dense layer on the mean of what it makes of them.
// `steps_first`: as PyTorch's own layers have it, tokens in front of records and heads as further records.
inline Graph transformer_of_rows(std::int64_t units, std::int64_t heads, int layers,
                                 bool steps_first = false) {
  constexpr std::int64_t side = 28;
  Rng rng(1);
  GraphBuilder build("transformer-" + std::to_string(units) + (steps_first ? "-steps-first" : ""));
  const auto random = [&](const Shape& shape, double scale = 0.1) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = static_cast<float>(scale * rng.normal());
    return build.constant("", Array::of<float>(shape, values));
  };
  const auto integers = [&](const std::vector<std::int64_t>& values) {
    return build.constant("", Array::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
  };
  int count = 0;
  const auto add = [&](const std::string& op, std::vector<ValueId> inputs,
                       std::map<std::string, Attribute> attributes = {}) {
    return build.add(op, op + std::to_string(count++), std::move(inputs), std::move(attributes));
  };
  using Ints = std::vector<std::int64_t>;
  const auto dense = [&](ValueId x, std::int64_t in, std::int64_t out) {
    return add("Add", {add("MatMul", {x, random({in, out})}), random({out})});
  };
  const auto by_head = [&](ValueId x, Ints order) {
    const Ints shape = steps_first ? Ints{side, -1, units / heads} : Ints{0, 0, heads, -1};
    return add("Transpose", {add("Reshape", {x, integers(shape)})}, {{"perm", std::move(order)}});
  };
  const auto normal = [&](ValueId x) {
    return add("LayerNormalization", {x, random({units}, 1), random({units})});
  };
  const ValueId picture = build.input("input", DType::float32, {-1, 1, side, side});
  const ValueId rows = add("Reshape", {picture, integers({-1, side, side})});
  ValueId x = add("Add", {dense(rows, side, units), random({1, side, units})});
  const Ints swapped = steps_first ? Ints{1, 0, 2} : Ints{0, 2, 1, 3},
             turned = steps_first ? Ints{1, 2, 0} : Ints{0, 2, 3, 1};
  if (steps_first) x = add("Transpose", {x}, {{"perm", swapped}});
  for (int layer = 0; layer < layers; ++layer) {
    const ValueId queries = by_head(dense(x, units, units), swapped);
    const ValueId keys = by_head(dense(x, units, units), turned);
    const ValueId values = by_head(dense(x, units, units), swapped);
    const ValueId scores = add("Softmax", {add("MatMul", {queries, keys})});
    const ValueId read = add("Transpose", {add("MatMul", {scores, values})}, {{"perm", swapped}});
    const ValueId attended =
        dense(add("Reshape", {read, integers({steps_first ? side : 0, steps_first ? -1 : 0, units})}), units,
              units);
    x = normal(add("Add", {x, attended}));
    x = normal(add("Add", {x, dense(add("Gelu", {dense(x, units, 2 * units)}), 2 * units, units)}));
  }
  const ValueId mean =
      add("ReduceMean", {x, integers({steps_first ? 0 : 1})}, {{"keepdims", std::int64_t{0}}});
  build.output(add("Gemm", {mean, random({units, 10}), random({10})}));
  return build.build();
}

}  // namespace assay::bench
