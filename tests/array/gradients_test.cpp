// Gradients of every function by central differences, and what is recorded.

#include <assay/array_math.h>
#include <assay/error.h>
#include <gmock/gmock.h>

#include <functional>

#include "tests/random_arrays.h"

namespace assay {
namespace {

using array::Back;
using Function = std::function<Array(const Arrays&)>;

struct Case {
  std::string name;
  Function function;
  std::vector<Shape> shapes;
  double low = -2, high = 2;  // of the operands' elements
};

Array drawn(const Shape& shape, double low, double high) {
  return array::rand(shape, DType::float64) * (high - low) + low;
}

double weighted(const Case& of, const Arrays& operands, const Array& weights) {
  return (of.function(operands) * weights).sum().item<double>();
}

void expect_gradients(const Case& of) {
  Arrays operands, points;
  for (const Shape& shape : of.shapes) {
    operands.push_back(drawn(shape, of.low, of.high));
    points.push_back(operands.back().requires_grad_());
  }
  const Array result = of.function(points);
  ASSERT_TRUE(result.requires_grad()) << of.name;
  const Array weights = drawn(result.shape(), 0.5, 1.5);
  const Arrays found = array::gradients(std::span(&result, 1), points, std::span(&weights, 1));
  for (std::size_t k = 0; k < operands.size(); ++k) {
    ASSERT_TRUE(found[k].defined()) << of.name;
    ASSERT_EQ(found[k].shape(), operands[k].shape()) << of.name;
    const Array got = found[k].contiguous();
    for (std::int64_t i = 0; i < operands[k].count(); ++i) {
      constexpr double step = 1e-6;
      double& element = operands[k].elements<double>()[i];
      const double before = element;
      element = before + step;
      const double above = weighted(of, operands, weights);
      element = before - step;
      const double below = weighted(of, operands, weights);
      element = before;
      EXPECT_NEAR(got.elements<double>()[i], (above - below) / (2 * step), 2e-5)
          << of.name << ", operand " << k;
    }
  }
}

Case unary(std::string name, Array (*function)(const Array&), double low = -2, double high = 2) {
  return {std::move(name),
          [function](const Arrays& a) { return function(a[0].transpose(0, 1)); },
          {{3, 4}},
          low,
          high};
}

TEST(Gradients, OfFunctionsOfOneNumber) {
  using namespace array;
  for (const Case& one : {unary("abs", abs),
                          unary("acos", acos, -0.8, 0.8),
                          unary("acosh", acosh, 1.2, 3),
                          unary("asin", asin, -0.8, 0.8),
                          unary("asinh", asinh),
                          unary("atan", atan),
                          unary("atanh", atanh, -0.8, 0.8),
                          unary("cos", cos),
                          unary("cosh", cosh),
                          unary("erf", erf),
                          unary("exp", exp),
                          unary("expm1", expm1),
                          unary("log", log, 0.2, 3),
                          unary("log1p", log1p, -0.5, 3),
                          unary("neg", neg),
                          unary("reciprocal", reciprocal, 0.3, 2),
                          unary("relu", relu),
                          unary("rsqrt", rsqrt, 0.3, 2),
                          unary("sigmoid", sigmoid),
                          unary("sin", sin),
                          unary("sinh", sinh),
                          unary("softplus", softplus),
                          unary("sqrt", sqrt, 0.3, 2),
                          unary("square", square),
                          unary("tan", tan, -1, 1),
                          unary("tanh", tanh),
                          unary("mish", mish),
                          unary("hardswish", hardswish)})
    expect_gradients(one);
  expect_gradients({"gelu", [](const Arrays& a) { return gelu(a[0]); }, {{5}}});
  expect_gradients({"gelu by tanh", [](const Arrays& a) { return gelu(a[0], true); }, {{5}}});
  expect_gradients({"elu", [](const Arrays& a) { return elu(a[0], 1.5, 1.1, 0.7); }, {{5}}});
  expect_gradients({"leaky relu", [](const Arrays& a) { return leaky_relu(a[0], 0.1); }, {{5}}});
  expect_gradients({"clamp", [](const Arrays& a) { return clamp(a[0], -0.5, 0.7); }, {{7}}});
}

TEST(Gradients, OfFunctionsOfTwoNumbers) {
  using namespace array;
  const std::vector<Shape> shapes{{3, 1, 2}, {4, 1}};
  expect_gradients({"+", [](const Arrays& a) { return a[0] + a[1]; }, shapes});
  expect_gradients({"-", [](const Arrays& a) { return 1 - a[0] - a[1]; }, shapes});
  expect_gradients({"*", [](const Arrays& a) { return a[0] * a[1]; }, shapes});
  expect_gradients({"/", [](const Arrays& a) { return a[0] / a[1]; }, shapes, 0.5, 2});
  expect_gradients({"pow", [](const Arrays& a) { return pow(a[0], a[1]); }, shapes, 0.5, 2});
  expect_gradients({"maximum", [](const Arrays& a) { return maximum(a[0], a[1]); }, shapes});
  expect_gradients({"minimum", [](const Arrays& a) { return minimum(a[0], a[1]); }, shapes});
  expect_gradients({"atan2", [](const Arrays& a) { return atan2(a[0], a[1]); }, shapes, 0.5, 2});
  expect_gradients({"where", [](const Arrays& a) { return where(a[0] > 0.1, a[0], a[1]); }, shapes});
}

TEST(Gradients, OverAxes) {
  using namespace array;
  for (const Shape& axes : {Shape{}, Shape{0}, Shape{1}, Shape{-1}, Shape{0, 2}}) {
    for (const bool keep : {false, true}) {
      const auto over = [&](std::string name, auto function) {
        expect_gradients(
            {std::move(name), [=](const Arrays& a) { return function(a[0], axes, keep); }, {{2, 3, 4}}});
      };
      over("sum", [](const Array& a, const Shape& s, bool k) { return sum(a, s, k); });
      over("mean", [](const Array& a, const Shape& s, bool k) { return mean(a, s, k); });
      over("prod", [](const Array& a, const Shape& s, bool k) { return prod(a, s, k); });
      over("amax", [](const Array& a, const Shape& s, bool k) { return amax(a, s, k); });
      over("amin", [](const Array& a, const Shape& s, bool k) { return amin(a, s, k); });
      over("var", [](const Array& a, const Shape& s, bool k) { return var(a, s, k); });
      over("norm", [](const Array& a, const Shape& s, bool k) { return norm(a, 2, s, k); });
      over("logsumexp", [](const Array& a, const Shape& s, bool k) { return logsumexp(a, s, k); });
    }
  }
  for (const std::int64_t axis : {0, 1, -1}) {
    expect_gradients({"softmax", [=](const Arrays& a) { return softmax(a[0], axis); }, {{2, 3, 4}}});
    expect_gradients({"log softmax", [=](const Arrays& a) { return log_softmax(a[0], axis); }, {{2, 3, 4}}});
    expect_gradients({"cumsum", [=](const Arrays& a) { return cumsum(a[0], axis); }, {{2, 3, 4}}});
    expect_gradients({"cumprod", [=](const Arrays& a) { return cumprod(a[0], axis); }, {{2, 3, 4}}});
    expect_gradients({"max", [=](const Arrays& a) { return max(a[0], axis).values; }, {{2, 3, 4}}});
  }
}

TEST(Gradients, OfViewsAndMovement) {
  using namespace array;
  const auto of = [](std::string name, auto function) {
    expect_gradients({std::move(name), [=](const Arrays& a) { return function(a[0]); }, {{2, 3, 4}}});
  };
  of("reshape", [](const Array& a) { return a.transpose(0, 1).reshape({4, -1}); });
  of("select", [](const Array& a) { return a.select(1, -1); });
  of("slice", [](const Array& a) { return a.slice(2, 0, 4, 2); });
  of("expand", [](const Array& a) { return a.unsqueeze(1).expand({2, 5, 3, 4}); });
  of("unfold", [](const Array& a) { return a.unfold(2, 3, 1); });
  of("flip", [](const Array& a) { return flip(a, {0, 2}); });
  of("roll", [](const Array& a) { return roll(a, 2, 1); });
  of("repeat", [](const Array& a) { return repeat(a, {2, 1, 1, 3}); });
  of("pad", [](const Array& a) { return pad(a, {1, 2, -1, 1}, 0.5); });
  of("tril", [](const Array& a) { return tril(a, 1); });
  of("chunk", [](const Array& a) { return chunk(a, 2, 2)[1]; });
  of("unbind", [](const Array& a) { return unbind(a, 1)[0] * unbind(a, 1)[2]; });
  expect_gradients({"cat", [](const Arrays& a) { return cat(a, 1); }, {{2, 3}, {2, 1}}});
  expect_gradients({"stack", [](const Arrays& a) { return stack(a, -1); }, {{2, 3}, {2, 3}}});
}

TEST(Gradients, OfWindowsAndNorms) {
  using namespace array;
  expect_gradients({"max_pool",
                    [](const Arrays& a) {
                      return max_pool(a[0], {{2, 2}, {1, 2}, {1, 1}, {1, 1}}).values;
                    },
                    {{1, 2, 4, 5}}});
  expect_gradients({"avg_pool",
                    [](const Arrays& a) {
                      return avg_pool(a[0], {{3, 2}, {2, 2}, {1, 0}, {}, true});
                    },
                    {{1, 2, 4, 5}}});
  expect_gradients({"batch_norm",
                    [](const Arrays& a) { return batch_norm(a[0], a[1], a[2], 1e-3).result; },
                    {{3, 2, 4}, {2}, {2}}});
  expect_gradients({"layer_norm",
                    [](const Arrays& a) { return layer_norm(a[0], 2, a[1], a[2], 1e-3); },
                    {{3, 2, 4}, {2, 4}, {2, 4}}});
  expect_gradients({"group_norm",
                    [](const Arrays& a) { return group_norm(a[0], 2, a[1], a[2], 1e-3); },
                    {{2, 4, 3}, {4}, {4}}});
  expect_gradients({"grid_sample",
                    [](const Arrays& a) {
                      return grid_sample(a[0], a[1] * 0.4, Interpolation::bicubic, Outside::zeros, true);
                    },
                    {{1, 2, 5, 5}, {1, 2, 2, 2}}});
  expect_gradients({"affine_grid",
                    [](const Arrays& a) {
                      return affine_grid(a[0], {2, 1, 3, 4}, false);
                    },
                    {{2, 2, 3}}});
}

TEST(Recorded, SharedPartsAddUp) {
  const Array x = array::tensor({2.0, 3.0}).requires_grad_();
  const Array y = x * x, z = (y + y * x).sum();  // x^2 + x^3
  const Arrays found = array::gradients(std::span(&z, 1), std::vector<Array>{x, y}, {}, /*keep=*/true);
  EXPECT_TRUE(array::allclose(found[0], array::tensor({16.0, 33.0})));
  EXPECT_TRUE(array::allclose(found[1], array::tensor({3.0, 4.0})));
  EXPECT_TRUE(array::gradients(std::span(&z, 1), std::span(&x, 1))[0].equal(found[0])) << "kept";
  EXPECT_THROW(array::gradients(std::span(&z, 1), std::span(&x, 1)), Error) << "kept no longer";
}

TEST(Recorded, WhatDoesNotLeadThereIsNotAsked) {
  const Array x = array::tensor({1.0F}).requires_grad_(), other = array::tensor({1.0F}).requires_grad_();
  int asked = 0;
  const Array watched =
      array::recorded(other.detach(), std::span(&other, 1), [&](const Arrays& g, const std::vector<bool>&) {
        ++asked;
        return g;
      });
  const Array sum = x * 2 + watched;
  EXPECT_EQ(array::gradients(std::span(&sum, 1), std::span(&x, 1))[0].item<float>(), 2);
  EXPECT_EQ(asked, 0);
  const Array apart = x * 3;
  EXPECT_FALSE(array::gradients(std::span(&apart, 1), std::span(&other, 1))[0].defined());
}

TEST(Recorded, NothingWithoutRecording) {
  const Array x = array::ones({3}).requires_grad_();
  {
    const array::Recording none(false);
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
  EXPECT_FALSE((x > 0).requires_grad());
  Array changed = x * 2;
  EXPECT_THROW(changed.add_(1), Error);
}

TEST(Recorded, LongChainsEnd) {
  const Array x = array::ones({1}).requires_grad_();
  Array sum = x;
  for (int i = 0; i < 200'000; ++i) sum = sum + 1;
  EXPECT_EQ(array::gradients(std::span(&sum, 1), std::span(&x, 1), {}, true)[0].item<float>(), 1);
}

}  // namespace
}  // namespace assay
