#include <cmath>
#include <limits>

#include "fixture.h"

namespace assay::testing {
namespace {

struct UnaryFunction {
  std::string op;
  double (*written_out)(double);
  double low, high;  // inputs are spread over this interval
  bool differentiable = true;
  Attributes attributes = {};
};

double selu(double x, double alpha, double gamma) { return gamma * (x < 0 ? alpha * (std::exp(x) - 1) : x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double hard(double x, double alpha, double beta) { return std::min(1.0, std::max(0.0, alpha * x + beta)); }

const std::vector<UnaryFunction>& functions() {
  static const std::vector<UnaryFunction> all{
      {"Abs", std::fabs, -3, 3},
      {"Acos", std::acos, -0.9, 0.9},
      {"Acosh", std::acosh, 1.1, 4},
      {"Asin", std::asin, -0.9, 0.9},
      {"Asinh", std::asinh, -3, 3},
      {"Atan", std::atan, -3, 3},
      {"Atanh", std::atanh, -0.9, 0.9},
      {"Ceil", std::ceil, -3, 3, false},
      {"Celu", [](double x) { return std::max(0.0, x) + std::min(0.0, std::exp(x) - 1); }, -3, 3},
      {"Celu",
       [](double x) { return std::max(0.0, x) + std::min(0.0, 2 * (std::exp(x / 2) - 1)); },
       -3,
       3,
       true,
       {{"alpha", 2.0f}}},
      {"Cos", std::cos, -3, 3},
      {"Cosh", std::cosh, -3, 3},
      {"Elu", [](double x) { return x < 0 ? std::exp(x) - 1 : x; }, -3, 3},
      {"Elu", [](double x) { return x < 0 ? 0.5 * (std::exp(x) - 1) : x; }, -3, 3, true, {{"alpha", 0.5f}}},
      {"Erf", std::erf, -3, 3},
      {"Exp", std::exp, -3, 3},
      {"Floor", std::floor, -3, 3, false},
      {"Gelu", [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); }, -3, 3},
      {"Gelu",
       [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); },
       -3,
       3,
       true,
       {{"approximate", std::string("tanh")}}},
      {"HardSigmoid", [](double x) { return hard(x, 0.2f, 0.5f); }, -4, 4},
      {"HardSigmoid",
       [](double x) { return hard(x, 0.5f, 0.25f); },
       -4,
       4,
       true,
       {{"alpha", 0.5f}, {"beta", 0.25f}}},
      {"HardSwish", [](double x) { return x * hard(x, 1 / 6.0, 0.5); }, -4, 4},
      {"Identity", [](double x) { return x; }, -3, 3},
      {"LeakyRelu", [](double x) { return x < 0 ? 0.01 * x : x; }, -3, 3},
      {"LeakyRelu", [](double x) { return x < 0 ? 0.5 * x : x; }, -3, 3, true, {{"alpha", 0.5f}}},
      {"Log", std::log, 0.1, 3},
      {"Mish", [](double x) { return x * std::tanh(std::log(1 + std::exp(x))); }, -3, 3},
      {"Neg", [](double x) { return -x; }, -3, 3},
      {"Reciprocal", [](double x) { return 1 / x; }, 0.2, 3},
      {"Relu", [](double x) { return std::max(0.0, x); }, -3, 3},
      {"Round", std::nearbyint, -3, 3, false},
      {"Selu", [](double x) { return selu(x, 1.6732632, 1.0507010); }, -3, 3},
      {"Selu", [](double x) { return selu(x, 2, 0.5); }, -3, 3, true, {{"alpha", 2.0f}, {"gamma", 0.5f}}},
      {"Shrink", [](double x) { return std::fabs(x) > 0.5 ? x : 0; }, -3, 3},
      {"Shrink",
       [](double x) { return x < -1  ? x + 0.25
                             : x > 1 ? x - 0.25
                                     : 0; },
       -3,
       3,
       true,
       {{"lambd", 1.0f}, {"bias", 0.25f}}},
      {"Sigmoid", sigmoid, -5, 5},
      {"Sign", [](double x) { return static_cast<double>((x > 0) - (x < 0)); }, -3, 3, false},
      {"Sin", std::sin, -3, 3},
      {"Sinh", std::sinh, -3, 3},
      {"Softplus", [](double x) { return std::log(1 + std::exp(x)); }, -5, 5},
      {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }, -3, 3},
      {"Sqrt", std::sqrt, 0.1, 4},
      {"Swish", [](double x) { return x * sigmoid(x); }, -3, 3},
      {"Swish", [](double x) { return x * sigmoid(2 * x); }, -3, 3, true, {{"alpha", 2.0f}}},
      {"Tan", std::tan, -1.4, 1.4},
      {"Tanh", std::tanh, -3, 3},
      {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0; }, -3, 3},
      {"ThresholdedRelu", [](double x) { return x > 0.5 ? x : 0; }, -3, 3, true, {{"alpha", 0.5f}}},
  };
  return all;
}

Array spread(const UnaryFunction& f) {
  // 31 steps of an irregular size keep clear of the kinks at whole and half numbers.
  return (array::arange(31, DType::float32) / 30.0f * 0.977f + 0.0113f) * (f.high - f.low) + f.low;
}

class Unary : public ::testing::TestWithParam<UnaryFunction> {};

TEST_P(Unary, AgreesWithTheFunctionWrittenOut) {
  const UnaryFunction& f = GetParam();
  const Array x = spread(f);
  const Array expected = tabulate({31}, [&](const Ints& i) { return f.written_out(at_index(x, i)); });
  EXPECT_TRUE(same(run(f.op, {x}, f.attributes), expected, 2e-6));
}

TEST_P(Unary, LeavesItsInputAlone) {
  const Array x = spread(GetParam()), before = x.clone();
  run(GetParam().op, {x}, GetParam().attributes);
  EXPECT_TRUE(array::equal(x, before));
}

TEST_P(Unary, HasTheRightGradient) {
  if (GetParam().differentiable) {
    EXPECT_TRUE(gradients_agree(GetParam().op, {spread(GetParam())}, GetParam().attributes));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Unary, ::testing::ValuesIn(functions()), [](const auto& test) {
  return test.param.op + (test.param.attributes.empty() ? "" : "WithAttributes");
});

TEST(Round, TakesHalvesToTheEvenNeighbour) {
  EXPECT_TRUE(same(run("Round", {floats({6}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5})}),
                   floats({6}, {-2, -2, -0, 0, 2, 2})));
}

TEST(Unary, AcceptsIntegersWhereOnnxDoes) {
  EXPECT_TRUE(same(run("Abs", {ints({-3, 2})}), ints({3, 2})));
  EXPECT_TRUE(same(run("Neg", {ints({-3, 2})}), ints({3, -2})));
  EXPECT_TRUE(same(run("Sign", {ints({-3, 0, 2})}), ints({-1, 0, 1})));
  EXPECT_TRUE(same(run("Relu", {ints({-3, 2})}), ints({0, 2})));
}

TEST(Not, InvertsTruth) { EXPECT_TRUE(same(run("Not", {truth({1, 0})}), truth({0, 1}))); }

TEST(IsNaN, FindsNaNOnly) {
  const float inf = std::numeric_limits<float>::infinity();
  const Array x = floats({4}, {NAN, inf, -inf, 1});
  EXPECT_TRUE(same(run("IsNaN", {x}), truth({1, 0, 0, 0})));
  EXPECT_TRUE(same(run("IsInf", {x}), truth({0, 1, 1, 0})));
  EXPECT_TRUE(same(run("IsInf", {x}, {{"detect_negative", std::int64_t{0}}}), truth({0, 1, 0, 0})));
  EXPECT_TRUE(same(run("IsInf", {x}, {{"detect_positive", std::int64_t{0}}}), truth({0, 0, 1, 0})));
}

}  // namespace
}  // namespace assay::testing
