#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "network.h"

namespace assay::testing {
namespace {

using Function = double (*)(double);

struct Named {
  const char* name;
  Function function;
};

double clip(double x, double low, double high) { return std::min(std::max(x, low), high); }

constexpr double selu_alpha = 1.6732632423543772, selu_scale = 1.0507009873554805;

const Named functions[] = {
    {"linear", [](double x) { return x; }},
    {"relu", [](double x) { return std::max(x, 0.0); }},
    {"relu6", [](double x) { return clip(x, 0, 6); }},
    {"sigmoid", sigmoid},
    {"hard_sigmoid", [](double x) { return clip(0.2 * x + 0.5, 0, 1); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"softplus", [](double x) { return std::log1p(std::exp(x)); }},
    {"softsign", [](double x) { return x / (1 + std::abs(x)); }},
    {"elu", [](double x) { return x > 0 ? x : std::expm1(x); }},
    {"selu", [](double x) { return selu_scale * (x > 0 ? x : selu_alpha * std::expm1(x)); }},
    {"gelu", [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"swish", [](double x) { return x * sigmoid(x); }},
    {"silu", [](double x) { return x * sigmoid(x); }},
    {"exponential", [](double x) { return std::exp(x); }},
    {"leaky_relu", [](double x) { return x > 0 ? x : 0.2 * x; }},
    {"mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    {"celu", [](double x) { return x > 0 ? x : std::expm1(x); }},
    {"hard_tanh", [](double x) { return clip(x, -1, 1); }},
    {"hard_shrink", [](double x) { return std::abs(x) > 0.5 ? x : 0.0; }},
    {"soft_shrink", [](double x) { return x > 0.5    ? x - 0.5
                                          : x < -0.5 ? x + 0.5
                                                     : 0.0; }},
    {"tanh_shrink", [](double x) { return x - std::tanh(x); }},
    {"log_sigmoid", [](double x) { return -std::log1p(std::exp(-x)); }},
    {"squareplus", [](double x) { return (x + std::sqrt(x * x + 4)) / 2; }},
    {"sparse_plus", [](double x) { return x <= -1  ? 0
                                          : x >= 1 ? x
                                                   : (x + 1) * (x + 1) / 4; }},
    {"sparse_sigmoid", [](double x) { return clip((x + 1) / 2, 0, 1); }},
    {"hard_silu", [](double x) { return x * clip(x / 6 + 0.5, 0, 1); }},
};

class KerasActivation : public ::testing::TestWithParam<Named> {};

Values wide_input(const Shape& shape) {
  return map(random_values(shape, 6), [](double v) { return 8 * v; });
}

TEST_P(KerasActivation, AsALayerAndInsideOne) {
  const Values x = wide_input({3, 2, 2, 4});
  Network alone({2, 2, 4});
  alone.add("Activation", std::string(R"("activation": ")") + GetParam().name + "\"");
  EXPECT_TRUE(same(alone.run(x), map(x, GetParam().function)));

  const Values flat = random_values({3, 5}, 2);
  Network inside({5});
  const auto w = inside.add("Dense", std::string(R"("units": 3, "activation": ")") + GetParam().name + "\"",
                            {{5, 3}, {3}});
  EXPECT_TRUE(same(inside.run(flat), map(plain_dense(flat, w[0], w[1]), GetParam().function)));
}

INSTANTIATE_TEST_SUITE_P(Elementwise, KerasActivation, ::testing::ValuesIn(functions),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(KerasActivations, HardSigmoidChangedWithKeras3) {
  const Values x = wide_input({3, 4});
  Network network({4}, "3.1.0");
  network.add("Activation", R"("activation": "hard_sigmoid")");
  EXPECT_TRUE(same(network.run(x), map(x, [](double v) { return clip((v + 3) / 6, 0, 1); })));
}

TEST(KerasActivations, SoftmaxIsOverTheChannels) {
  for (const Shape& shape : {Shape{2, 4}, Shape{2, 3, 4}, Shape{2, 3, 2, 4}}) {
    const Values x = wide_input(shape);
    for (const std::string name : {"softmax", "log_softmax"}) {
      Network network(Shape(shape.begin() + 1, shape.end()));
      network.add("Activation", R"("activation": ")" + name + "\"");
      EXPECT_TRUE(same(network.run(x), tabulate(shape, [&](const Shape& i) {
                         double sum = 0;
                         Shape j = i;
                         for (j.back() = 0; j.back() < 4; ++j.back()) sum += std::exp(at(x, j));
                         const double share = std::exp(at(x, i)) / sum;
                         return name == "softmax" ? share : std::log(share);
                       })));
    }
  }
}

TEST(KerasActivations, LayersWithParameters) {
  const Values x = wide_input({2, 3, 2, 4});
  const auto check = [&](const std::string& class_name, const std::string& config,
                         const std::function<double(double)>& f) {
    Network network({3, 2, 4});
    network.add(class_name, config);
    EXPECT_TRUE(same(network.run(x), map(x, f))) << class_name << config;
  };
  check("LeakyReLU", R"("alpha": 0.1)", [](double v) { return v > 0 ? v : 0.1 * v; });
  check("LeakyReLU", R"("negative_slope": 0.4)", [](double v) { return v > 0 ? v : 0.4 * v; });
  check("LeakyReLU", "", [](double v) { return v > 0 ? v : 0.3 * v; });
  check("ELU", R"("alpha": 0.5)", [](double v) { return v > 0 ? v : 0.5 * std::expm1(v); });
  check("ThresholdedReLU", R"("theta": 2.0)", [](double v) { return v > 2 ? v : 0; });
  check("ReLU", R"("max_value": null, "negative_slope": 0.0, "threshold": 0.0)",
        [](double v) { return std::max(v, 0.0); });
  check("ReLU", R"("max_value": 3)", [](double v) { return clip(v, 0, 3); });
  check("ReLU", R"("negative_slope": 0.25)", [](double v) { return v > 0 ? v : 0.25 * v; });
  check("ReLU", R"("threshold": 1)", [](double v) { return v > 1 ? v : 0; });
  check("ReLU", R"("threshold": 1, "max_value": 4)", [](double v) { return v >= 4 ? 4 : v > 1 ? v : 0; });
  check("ReLU", R"("threshold": 1, "max_value": 4, "negative_slope": 0.5)", [](double v) {
    return v >= 4 ? 4 : v > 1 ? v : 0.5 * (v - 1);
  });
}

TEST(KerasActivations, GeluHasAnApproximation) {
  Network network({4});
  network.add("Activation", R"("activation": {"class_name": "gelu", "config": {"approximate": true}})");
  const Values x = wide_input({2, 4});
  EXPECT_TRUE(same(network.run(x), map(x, [](double v) {
                     return v / 2 *
                            (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (v + 0.044715 * v * v * v)));
                   })));
}

TEST(KerasActivations, SoftmaxLayerHasAnAxis) {
  Network network({3, 2, 4});
  network.add("Softmax", R"("axis": 1)");
  const Values x = wide_input({1, 3, 2, 4});
  EXPECT_TRUE(same(network.run(x), tabulate(x.shape, [&](const Shape& i) {
                     double sum = 0;
                     for (std::int64_t j = 0; j < 3; ++j) sum += std::exp(at(x, {i[0], j, i[2], i[3]}));
                     return std::exp(at(x, i)) / sum;
                   })));
}

TEST(KerasActivations, PReLUHasASlopeForEachElement) {
  for (const bool shared : {false, true}) {
    Network network({3, 2, 4});
    const auto w = network.add("PReLU", shared ? R"("shared_axes": [1, 2])" : "",
                               {shared ? Shape{1, 1, 4} : Shape{3, 2, 4}});
    const Values x = wide_input({2, 3, 2, 4});
    EXPECT_TRUE(same(network.run(x), tabulate(x.shape, [&](const Shape& i) {
                       const double slope = shared ? at(w[0], {0, 0, i[3]}) : at(w[0], {i[1], i[2], i[3]});
                       return at(x, i) > 0 ? at(x, i) : slope * at(x, i);
                     })));
  }
}

TEST(KerasActivations, AnUnknownOneIsNamed) {
  Network network({4});
  network.add("Activation", R"("activation": "wobble")");
  try {
    network.read();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_NE(std::string(error.what()).find("layer 'layer0' (Activation): activation 'wobble'"),
              std::string::npos)
        << error.what();
  }
}

TEST(KerasActivations, HalfOfTheChannelsOpenTheOthers) {
  const Values x = wide_input({3, 2, 2, 4});
  Network network({2, 2, 4});
  network.add("Activation", R"("activation": "glu")");
  EXPECT_TRUE(same(network.run(x), tabulate({3, 2, 2, 2}, [&](const Shape& i) {
                     return at(x, i) * sigmoid(at(x, {i[0], i[1], i[2], i[3] + 2}));
                   })));
}

TEST(KerasActivations, SparsemaxIsThePointOfTheSimplexThatIsNearest) {
  Network network({3});
  network.add("Activation", R"("activation": "sparsemax")");
  EXPECT_TRUE(same(network.run(numbers({3, 3}, {0.5F, 0.1F, 0.2F, 3, 1, -2, 1, 1, 0.25F})),
                   numbers({3, 3}, {0.5F - 1.0F / 3, 0, 0, 1, 0, 0, 0, 0, 0})));
}

}  // namespace
}  // namespace assay::testing
