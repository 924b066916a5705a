#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/training.h>
#include "assay/training/weights.h"
#include "tests/engine/graphs.h"

namespace assay::training {
namespace {

Graph network() {
  test::Net net("net");
  ValueId x = net.input({-1, 3, 8, 8});
  x = net.batch_norm("bn", net.conv("conv", x, 3, 16, 3), 16);
  x = net.flatten("flatten", net.builder.add("GlobalAveragePool", "pool", {x}));
  return net.build(net.dense("fc", x, 16, 40));
}

std::span<const float> weights(const Graph& graph, const std::string& name) {
  return graph.constant(*graph.find_value(name)).as<float>();
}

// All within the limit, and coming near it on both sides.
void expect_fills(std::span<const float> values, double limit) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*low, -limit);
  EXPECT_LE(*low, -0.8 * limit);
  EXPECT_LE(*high, limit);
  EXPECT_GE(*high, 0.8 * limit);
}

void expect_all(std::span<const float> values, float wanted) {
  for (const float value : values) ASSERT_EQ(value, wanted);
}

TEST(Initialise, KerasDrawsGlorotUniformKernelsAndZeroBiases) {
  const Graph fresh = initialise(network(), "keras", 7);
  expect_fills(weights(fresh, "conv/w"), std::sqrt(6.0 / (27 + 144)));
  expect_fills(weights(fresh, "fc/w"), std::sqrt(6.0 / 56));
  expect_all(weights(fresh, "conv/b"), 0);
  expect_all(weights(fresh, "fc/b"), 0);
}

TEST(Initialise, PytorchDrawsByFanIn) {
  const Graph fresh = initialise(network(), "pytorch", 7);
  expect_fills(weights(fresh, "conv/w"), 1 / std::sqrt(27.0));
  expect_fills(weights(fresh, "fc/w"), 0.25);
  expect_fills(weights(fresh, "fc/b"), 0.25);
}

TEST(Initialise, NormalisationsBeginAsTheIdentity) {
  for (const char* name : {"keras", "pytorch"}) {
    const Graph fresh = initialise(network(), name, 7);
    expect_all(weights(fresh, "bn/scale"), 1);
    expect_all(weights(fresh, "bn/variance"), 1);
    expect_all(weights(fresh, "bn/mean"), 0);
    expect_all(weights(fresh, "bn/shift"), 0);
  }
}

TEST(Initialise, DependsOnTheSeedAlone) {
  EXPECT_EQ(initialise(network(), "keras", 7).hash(), initialise(network(), "keras", 7).hash());
  EXPECT_NE(initialise(network(), "keras", 7).hash(), initialise(network(), "keras", 8).hash());
  EXPECT_EQ(initialise(network(), "keep", 7).hash(), network().hash());
  EXPECT_THROW(initialise(network(), "he", 7), Error);
}

TEST(FindWeights, LooksBehindATransposeAndAnAddition) {
  test::Net net("net");
  const ValueId x = net.input({-1, 4});
  const ValueId turned =
      net.builder.add("Transpose", "turn", {net.weight("w", {6, 4})}, {{"perm", test::Ints{1, 0}}});
  const ValueId y = net.builder.add("MatMul", "product", {x, turned});
  const Graph graph = net.build(net.builder.add("Add", "sum", {net.bias("b", 6), y}));
  const std::vector<Weight> found = find_weights(graph);
  ASSERT_EQ(found.size(), 2u);
  for (const Weight& weight : found) {
    EXPECT_EQ(weight.role, graph.value(weight.value).name == "w" ? Role::kernel : Role::bias);
    EXPECT_EQ(weight.fan_in, 4);
    EXPECT_EQ(weight.fan_out, 6);
  }
}

TEST(Initialise, KerasDrawsOrthogonalRecurrentKernelsAndOpensForgetGates) {
  const Graph fresh = initialise(test::lstm_like(), "keras", 3);
  const std::span<const float> r = weights(fresh, "lstm/r");  // [1, 4 * 5, 5]
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < 5; ++b) {
      double product = 0;
      for (std::size_t i = 0; i < 20; ++i) product += static_cast<double>(r[i * 5 + a]) * r[i * 5 + b];
      EXPECT_NEAR(product, a == b ? 1 : 0, 1e-6);
    }
  }
  const std::span<const float> bias = weights(fresh, "lstm/b");  // input, output, forget, cell; twice
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(bias[i], i >= 10 && i < 15 ? 1 : 0) << i;
}

}  // namespace
}  // namespace assay::training
