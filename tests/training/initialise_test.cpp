#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <assay/error.h>
#include <assay/extend/optimisers.h>
#include <assay/training.h>
#include "assay/training/weights.h"
#include "tests/engine/graphs.h"

namespace assay::training {
namespace {

Graph layers_with_weights() {
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
  const Graph fresh = initialise(layers_with_weights(), "keras", 7);
  expect_fills(weights(fresh, "conv/w"), std::sqrt(6.0 / (27 + 144)));
  expect_fills(weights(fresh, "fc/w"), std::sqrt(6.0 / 56));
  expect_all(weights(fresh, "conv/b"), 0);
  expect_all(weights(fresh, "fc/b"), 0);
}

TEST(Initialise, PytorchDrawsByFanIn) {
  const Graph fresh = initialise(layers_with_weights(), "pytorch", 7);
  expect_fills(weights(fresh, "conv/w"), 1 / std::sqrt(27.0));
  expect_fills(weights(fresh, "fc/w"), 0.25);
  expect_fills(weights(fresh, "fc/b"), 0.25);
}

TEST(Initialise, NormalisationsBeginAsTheIdentity) {
  for (const char* name : {"keras", "pytorch"}) {
    const Graph fresh = initialise(layers_with_weights(), name, 7);
    expect_all(weights(fresh, "bn/scale"), 1);
    expect_all(weights(fresh, "bn/variance"), 1);
    expect_all(weights(fresh, "bn/mean"), 0);
    expect_all(weights(fresh, "bn/shift"), 0);
  }
}

TEST(Initialise, DependsOnTheSeedAlone) {
  EXPECT_EQ(initialise(layers_with_weights(), "keras", 7).hash(),
            initialise(layers_with_weights(), "keras", 7).hash());
  EXPECT_NE(initialise(layers_with_weights(), "keras", 7).hash(),
            initialise(layers_with_weights(), "keras", 8).hash());
  EXPECT_EQ(initialise(layers_with_weights(), "keep", 7).hash(), layers_with_weights().hash());
  EXPECT_THROW(initialise(layers_with_weights(), "he", 7), Error);
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

// Names of the scales and shifts that are found.
std::set<std::string> affine(const Graph& graph) {
  std::set<std::string> names;
  for (const Weight& weight : find_weights(graph)) {
    if (weight.role == Role::scale) names.insert("scale " + graph.value(weight.value).name);
    if (weight.role == Role::shift) names.insert("shift " + graph.value(weight.value).name);
  }
  return names;
}

TEST(FindWeights, KnowsNormalisationsThatAreSpeltOut) {
  using Names = std::set<std::string>;
  const auto numbers = [](test::Net& net, const std::string& name, Shape shape) {
    return net.builder.constant(name, test::random_array(net.rng, std::move(shape)));
  };
  {
    test::Net net("layer");
    const ValueId x = net.input({-1, 5, 6});
    EXPECT_EQ(affine(net.build(test::spelt_out_layer_norm(net, x, 6))), (Names{"scale gamma", "shift beta"}));
  }
  {
    test::Net net("root mean square");
    GraphBuilder& b = net.builder;
    const ValueId x = net.input({-1, 6});
    const ValueId mean =
        b.add("ReduceMean", "mean", {b.add("Mul", "square", {x, x})}, {{"axes", test::Ints{-1}}});
    const ValueId spread = b.add("Sqrt", "root", {b.add("Add", "sum", {numbers(net, "eps", {1}), mean})});
    const ValueId unit = b.add("Mul", "unit", {x, b.add("Reciprocal", "inverse", {spread})});
    EXPECT_EQ(affine(net.build(b.add("Mul", "out", {numbers(net, "gamma", {6}), unit}))),
              Names{"scale gamma"});
  }
  {
    test::Net net("groups");
    GraphBuilder& b = net.builder;
    const ValueId x = net.input({-1, 4, 3, 3});
    const ValueId grouped = b.add("Reshape", "split", {x, b.constant("to", test::integers({0, 2, -1}))});
    const ValueId each = b.add("InstanceNormalization", "each",
                               {grouped, numbers(net, "ones", {2}), numbers(net, "zeros", {2})});
    const ValueId back = b.add("Reshape", "back", {each, b.constant("from", test::integers({-1, 4, 3, 3}))});
    const ValueId scaled = b.add("Mul", "scaled", {back, numbers(net, "gamma", {4, 1, 1})});
    EXPECT_EQ(affine(net.build(b.add("Add", "out", {scaled, numbers(net, "beta", {4, 1, 1})}))),
              (Names{"scale gamma", "shift beta"}));
  }
  {
    test::Net net("instances");
    const ValueId x = net.input({-1, 4, 3, 3});
    EXPECT_EQ(affine(net.build(net.builder.add("InstanceNormalization", "each",
                                               {x, numbers(net, "gamma", {4}), numbers(net, "beta", {4})}))),
              (Names{"scale gamma", "shift beta"}));
  }
  {
    test::Net net("other products");  // preprocessing, attention's factor
    GraphBuilder& b = net.builder;
    const ValueId x = net.input({-1, 6});
    const ValueId centred =
        b.add("Div", "div", {b.add("Sub", "sub", {x, numbers(net, "m", {6})}), numbers(net, "s", {6})});
    const ValueId scaled = b.add("Mul", "scaled", {centred, numbers(net, "factor", {6})});
    EXPECT_EQ(affine(net.build(b.add("Add", "out", {scaled, numbers(net, "more", {6})}))), Names{});
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
  const Graph single = initialise(test::one_bias(test::lstm_like(), "lstm"), "keras", 3);
  const std::span<const float> one = weights(single, "one");
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(one[i], i >= 10 && i < 15 ? 1 : 0) << i;
}

struct Moments {
  double mean = 0, deviation = 0, largest = 0;
};

Moments moments_of(std::span<const float> values) {
  Moments of;
  for (const float value : values) {
    of.mean += value / static_cast<double>(values.size());
    of.largest = std::max(of.largest, static_cast<double>(std::abs(value)));
  }
  for (const float value : values)
    of.deviation += (value - of.mean) * (value - of.mean) / static_cast<double>(values.size());
  of.deviation = std::sqrt(of.deviation);
  return of;
}

Graph wide() {
  test::Net net("wide");
  const ValueId x = net.input({-1, 300});
  return net.build(net.dense("second", net.relu("relu", net.dense("first", x, 300, 100)), 100, 100));
}

TEST(Initialise, KernelsAreDrawnFromTheDistributionsOfKeras) {
  struct Wanted {
    const char* name;
    double mean, deviation, limit;
  };
  const double cut = 2 / 0.87962566103423978;
  const Wanted all[] = {{"glorot-uniform", 0, std::sqrt(2.0 / 400), std::sqrt(6.0 / 400)},
                        {"glorot-normal", 0, std::sqrt(2.0 / 400), cut * std::sqrt(2.0 / 400)},
                        {"he-uniform", 0, std::sqrt(2.0 / 300), std::sqrt(6.0 / 300)},
                        {"he-normal", 0, std::sqrt(2.0 / 300), cut * std::sqrt(2.0 / 300)},
                        {"lecun-uniform", 0, std::sqrt(1.0 / 300), std::sqrt(3.0 / 300)},
                        {"lecun-normal", 0, std::sqrt(1.0 / 300), cut * std::sqrt(1.0 / 300)},
                        {"random-normal", 0, 0.05, 0.5},
                        {"random-normal[mean=1,stddev=0.5]", 1, 0.5, 5},
                        {"random-uniform", 0, 0.1 / std::sqrt(12.0), 0.05},
                        {"random-uniform[low=1,high=3]", 2, 2 / std::sqrt(12.0), 3},
                        {"truncated-normal", 0, 0.05 * 0.87962566103423978, 0.1},
                        {"zeros", 0, 0, 0},
                        {"ones", 1, 0, 1},
                        {"constant[value=-2]", -2, 0, 2},
                        {"orthogonal", 0, std::sqrt(1.0 / 300), 0.5},
                        {"identity", 1.0 / 300, std::sqrt(1.0 / 300 - 1.0 / 90000), 1}};
  std::set<std::string> seen;
  for (const Wanted& wanted : all) {
    seen.insert(parse_spec("initialiser", wanted.name).name);
    const Graph fresh = initialise(wide(), wanted.name, 3);
    const Moments of = moments_of(weights(fresh, "first/w"));
    EXPECT_NEAR(of.mean, wanted.mean, 0.02 * wanted.deviation + 1e-7) << wanted.name;
    EXPECT_NEAR(of.deviation, wanted.deviation, 0.02 * wanted.deviation + 1e-7) << wanted.name;
    EXPECT_LE(of.largest, wanted.limit + 1e-6) << wanted.name;
    expect_all(weights(fresh, "first/b"), 0);
  }
  for (const std::string& name : initialisers().names())
    EXPECT_TRUE(seen.contains(name)) << name << ": write its distribution above";
}

TEST(Initialise, OrthogonalKernelsAreOrthonormalWhicheverWayIsShorter) {
  const Graph fresh = initialise(wide(), "orthogonal[gain=2]", 3);
  const auto first = weights(fresh, "first/w");  // [100, 300]
  for (std::size_t a = 0; a < 100; a += 9) {
    for (std::size_t b = 0; b < 100; b += 7) {
      double product = 0;
      for (std::size_t i = 0; i < 300; ++i)
        product += static_cast<double>(first[a * 300 + i]) * first[b * 300 + i];
      EXPECT_NEAR(product, a == b ? 4 : 0, 1e-5);
    }
  }
}

TEST(Initialise, KernelsOfNamedLayersBeginOtherwise) {
  const Graph plain = initialise(wide(), "keras", 3),
              mixed = initialise(wide(), "keras,ones[layer=second]", 3);
  const auto same = weights(plain, "first/w"), here = weights(mixed, "first/w");
  EXPECT_TRUE(std::equal(same.begin(), same.end(), here.begin()));
  expect_all(weights(mixed, "second/w"), 1);
  const Graph kept = initialise(wide(), "keep,zeros[layer=first]", 3);
  expect_all(weights(kept, "first/w"), 0);
  EXPECT_TRUE(std::ranges::equal(weights(kept, "second/w"), weights(wide(), "second/w")));
  EXPECT_TRUE(std::ranges::equal(weights(kept, "first/b"), weights(wide(), "first/b")));
  EXPECT_EQ(initialise(wide(), "glorot-uniform", 3).hash(), plain.hash());
  EXPECT_THROW(initialise(wide(), "ones[layer=third]", 3), Error);
  EXPECT_THROW(initialise(layers_with_weights(), "identity", 3), Error);  // a convolution is not a matrix
}

}  // namespace
}  // namespace assay::training
