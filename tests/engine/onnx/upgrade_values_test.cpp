// Rules of the ONNX reader that rewrite a node into others: what they compute, against the old definition
// written out in loops.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <assay/array_math.h>
#include "assay/engine/operators/kernel.h"
#include "tests/engine/onnx/values.h"
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;

// The graph's first output for its first input.
std::vector<float> run(const Graph& graph, const Shape& shape, const std::vector<float>& input) {
  Tensors known;
  known[graph.inputs()[0]] = Array::of<float>(shape, input);
  for (const ValueId id : graph.value_ids()) {
    if (graph.is_constant(id)) known[id] = graph.constant(id);
  }
  for (const Node& node : graph.nodes()) {
    std::vector<Array> operands;
    for (const ValueId id : node.inputs) operands.push_back(id == no_value ? Array() : known.at(id));
    KernelContext context;
    const auto results = run_node(node, operands, context);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) known[node.outputs[i]] = results.at(i);
  }
  const Array output = known.at(graph.outputs()[0]).contiguous();
  const auto values = output.as<float>();
  return {values.begin(), values.end()};
}

void expect_near(const std::vector<float>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-5) << i;
}

constexpr std::size_t batch = 3, channels = 4, row_length = 5;
const Shape shape{3, 4, 5};

TEST(UpgradedValues, OldSoftmaxSharesItsSumAmongAllAxesFromTheGivenOneOn) {
  const auto x = normal_values(batch * channels * row_length, 1);
  for (const std::int64_t axis : {0, 1, 2}) {
    const OnnxFile file = one_node(11, "Softmax", {-1, 4, 5}, [&](auto& n) { set(n, "axis", axis); });
    const std::size_t row = axis == 0 ? x.size() : axis == 1 ? channels * row_length : row_length;
    std::vector<double> expected(x.size());
    for (std::size_t start = 0; start < x.size(); start += row) {
      double sum = 0;
      for (std::size_t i = start; i < start + row; ++i) sum += std::exp(x[i]);
      for (std::size_t i = start; i < start + row; ++i) expected[i] = std::exp(x[i]) / sum;
    }
    expect_near(run(file.read(), shape, x), expected);
  }
}

TEST(UpgradedValues, BatchNormalizationPerPosition) {
  OnnxFile file(7);
  file.input("x", {-1, 4, 5});
  file.output("y");
  const std::size_t positions = channels * row_length;
  std::vector<std::vector<float>> parameters;
  Names inputs{"x"};
  for (const char* name : {"scale", "bias", "mean", "variance"}) {
    parameters.push_back(normal_values(positions, 10 + parameters.size()));
    if (std::string(name) == "variance") {
      for (float& v : parameters.back()) v *= v;
    }
    file.weight(floats(name, {4, 5}, parameters.back()));
    inputs.push_back(name);
  }
  auto& node = file.node("BatchNormalization", inputs, {"y"}, "n");
  set(node, "spatial", std::int64_t{0});
  set(node, "epsilon", 1e-3f);
  const auto x = normal_values(batch * positions, 2);
  std::vector<double> expected(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t p = i % positions;
    expected[i] =
        parameters[0][p] * (x[i] - parameters[2][p]) / std::sqrt(parameters[3][p] + 1e-3) + parameters[1][p];
  }
  expect_near(run(file.read(), shape, x), expected);
}

TEST(UpgradedValues, GroupNormalizationWithOneScalePerGroup) {
  const auto x = normal_values(batch * channels * row_length, 3);
  const std::vector<float> scale{2, -1}, bias{0.5, 3};
  const std::size_t group = channels / 2 * row_length;
  std::vector<double> expected(x.size());
  for (std::size_t start = 0; start < x.size(); start += group) {
    const std::size_t g = start / group % 2;
    double mean = 0, variance = 0;
    for (std::size_t i = start; i < start + group; ++i) mean += x[i] / static_cast<double>(group);
    for (std::size_t i = start; i < start + group; ++i)
      variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(group);
    for (std::size_t i = start; i < start + group; ++i) {
      expected[i] = scale[g] * (x[i] - mean) / std::sqrt(variance + 1e-5) + bias[g];
    }
  }
  for (const std::int64_t declared : {-1, 4}) {
    OnnxFile file(18);
    file.input("x", {-1, declared, 5});
    file.weight(floats("scale", {2}, scale));
    file.weight(floats("bias", {2}, bias));
    file.output("y");
    set(file.node("GroupNormalization", {"x", "scale", "bias"}, {"y"}), "num_groups", std::int64_t{2});
    expect_near(run(file.read(), shape, x), expected);
  }
}

TEST(UpgradedValues, UpsampleTakesTheElementBefore) {
  const OnnxFile file = one_node(7, "Upsample", {-1, 1, 1, 3}, [](auto& n) {
    set(n, "scales", std::vector<float>{1, 1, 1, 2.5f});
  });
  // floor(3 * 2.5) = 7 positions; position i shows element floor(i / 2.5).
  expect_near(run(file.read(), {1, 1, 1, 3}, {10, 20, 30}), {10, 10, 10, 20, 20, 30, 30});
}

TEST(UpgradedValues, UpsampleInterpolatesFromTheCorner) {
  const OnnxFile file = one_node(7, "Upsample", {-1, 1, 1, 3}, [](auto& n) {
    set(n, "scales", std::vector<float>{1, 1, 1, 2});
    set(n, "mode", "linear");
  });
  expect_near(run(file.read(), {1, 1, 1, 3}, {10, 20, 30}), {10, 15, 20, 25, 30, 30});
}

TEST(UpgradedValues, BoundsMovedFromAttributesToInputs) {
  const OnnxFile slice = one_node(9, "Slice", {-1, 4}, [](auto& n) {
    set(n, "axes", Ints{1});
    set(n, "starts", Ints{-3});
    set(n, "ends", Ints{100});
  });
  expect_near(run(slice.read(), {1, 4}, {1, 2, 3, 4}), {2, 3, 4});
  const OnnxFile clip = one_node(7, "Clip", {-1, 4}, [](auto& n) { set(n, "max", 2.5f); });
  expect_near(run(clip.read(), {1, 4}, {1, 2, 3, -4}), {1, 2, 2.5, -4});
  const OnnxFile pad = one_node(9, "Pad", {-1, 2}, [](auto& n) {
    set(n, "pads", Ints{0, 1, 0, 2});
    set(n, "value", 9.0f);
  });
  expect_near(run(pad.read(), {1, 2}, {1, 2}), {9, 1, 2, 9, 9});
  const OnnxFile mean = one_node(12, "ReduceMean", {-1, 4}, [](auto& n) { set(n, "axes", Ints{1}); });
  expect_near(run(mean.read(), {1, 4}, {1, 2, 3, 6}), {3});
}

TEST(UpgradedValues, SecondOperandsThatBeginAtAnAxis) {
  OnnxFile file(6);
  file.input("x", {-1, 2, 3});
  file.weight(floats("c", {2}, {10, 20}));
  file.output("y");
  auto& add = file.node("Add", {"x", "c"}, {"y"});
  set(add, "axis", std::int64_t{1});
  set(add, "broadcast", std::int64_t{1});
  expect_near(run(file.read(), {1, 2, 3}, {1, 2, 3, 4, 5, 6}), {11, 12, 13, 24, 25, 26});
}

TEST(UpgradedValues, CastsToShortFloatsRound) {
  const OnnxFile file = one_node(18, "Cast", {-1, 3}, [](auto& n) { set(n, "to", std::int64_t{16}); });
  // bfloat16 has 8 bits: neighbours of 1 are 1/128 apart, of 256 two apart; halves go to the even one.
  expect_near(run(file.read(), {1, 3}, {1 + 1.0F / 256, 1 + 3.0F / 256, 257}), {1, 1 + 1.0 / 64, 256});
}

onnx::TensorProto whole(const std::string& name, int type, const Shape& dims,
                        const std::vector<int>& values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  for (const int value : values) tensor.add_int32_data(value);
  return tensor;
}

// A convolution of kernel 1 in whole numbers: bits are what the standard says.
TEST(UpgradedValues, QuantisedConvolution) {
  OnnxFile file(18);
  file.input("x", {-1, 2, 1, 3});
  file.weight(floats("xs", {}, {0.5F}));
  file.weight(whole("xz", onnx::TensorProto::UINT8, {}, {128}));
  file.weight(whole("w", onnx::TensorProto::INT8, {2, 2, 1, 1}, {3, -5, 100, 7}));
  file.weight(floats("ws", {2}, {0.25F, 0.125F}));
  file.weight(whole("wz", onnx::TensorProto::INT8, {2}, {0, 0}));
  file.weight(floats("ys", {}, {2}));
  file.weight(whole("yz", onnx::TensorProto::UINT8, {}, {100}));
  file.weight(whole("b", onnx::TensorProto::INT32, {2}, {40, -80}));
  file.output("y");
  file.node("QuantizeLinear", {"x", "xs", "xz"}, {"q"});
  file.node("QLinearConv", {"q", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"}, {"y"}, "conv");
  const std::vector<float> x{1, -2, 3.25F, 10, 0, -7};
  const int weights[2][2] = {{3, -5}, {100, 7}}, bias[2] = {40, -80};
  const double scales[2] = {0.25, 0.125};
  std::vector<double> expected;
  for (int o = 0; o < 2; ++o) {
    for (int p = 0; p < 3; ++p) {
      double sum = bias[o];
      for (int c = 0; c < 2; ++c) {
        const double q = std::nearbyint(x[static_cast<std::size_t>(3 * c + p)] / 0.5) + 128;
        sum += (q - 128) * weights[o][c];
      }
      expected.push_back(std::clamp(std::nearbyint(sum * 0.5 * scales[o] / 2) + 100, 0.0, 255.0));
    }
  }
  const Graph graph = file.read();
  EXPECT_TRUE(
      graph.is_constant(node_of(graph, "conv").inputs[1]));  // weights that every analysis knows as such
  expect_near(run(graph, {1, 2, 1, 3}, x), expected);
}

TEST(UpgradedValues, ProductsOfWholeNumbers) {
  OnnxFile file(18);
  file.input("x", {-1, 2}, onnx::TensorProto::UINT8);
  file.weight(whole("w", onnx::TensorProto::INT8, {2, 2}, {3, -5, 100, 7}));
  file.weight(whole("xz", onnx::TensorProto::UINT8, {}, {2}));
  file.output("y");
  file.node("MatMulInteger", {"x", "w", "xz"}, {"y"});
  // (7 - 2, 1 - 2) times the matrix.
  expect_near(run(file.read(), {1, 2}, {7, 1}), {15 - 100, -25 - 7});
}

}  // namespace
}  // namespace assay
