#include <cmath>

#include "fixture.h"

namespace assay::testing {
namespace {

Attributes along(std::int64_t axis) { return {{"axis", axis}}; }

TEST(Softmax, DividesExponentialsByTheirSumAlongTheAxis) {
  const Array x = random_tensor({2, 3, 4}, 1);
  for (const std::int64_t axis : {-3, -1, 0, 1, 2}) {
    const std::int64_t a = axis < 0 ? axis + 3 : axis;
    const Array expected = tabulate({2, 3, 4}, [&](Ints i) {
      const double own = std::exp(at_index(x, i));
      double total = 0;
      for (i[a] = 0; i[a] < x.size(a); ++i[a]) total += std::exp(at_index(x, i));
      return own / total;
    });
    EXPECT_TRUE(same(run("Softmax", {x}, along(axis)), expected));
    EXPECT_TRUE(same(run("LogSoftmax", {x}, along(axis)), expected.log()));
    EXPECT_TRUE(gradients_agree("Softmax", {x}, along(axis)));
    EXPECT_TRUE(gradients_agree("LogSoftmax", {x}, along(axis)));
  }
  EXPECT_TRUE(same(run("Softmax", {x}), run("Softmax", {x}, along(2))));
  EXPECT_EQ(fault_of("Softmax", {x}, along(3)), Fault::model);
}

TEST(Softmax, SurvivesLargeInputs) {
  EXPECT_TRUE(same(run("Softmax", {floats({2}, {1000, 1000})}), floats({2}, {0.5, 0.5})));
}

TEST(Hardmax, MarksTheFirstMaximum) {
  const Array x = floats({2, 3}, {1, 3, 3, 2, 0, 1});
  EXPECT_TRUE(same(run("Hardmax", {x}), floats({2, 3}, {0, 1, 0, 1, 0, 0})));
  EXPECT_TRUE(same(run("Hardmax", {x}, along(0)), floats({2, 3}, {0, 1, 1, 1, 0, 0})));
}

TEST(PRelu, MultipliesNegativesByTheSlope) {
  const Array x = random_tensor({2, 3, 4}, 1), slope = random_tensor({3, 1}, 2);
  const Array expected = tabulate({2, 3, 4}, [&](const Ints& i) {
    const double v = at_index(x, i);
    return v < 0 ? v * at_index(slope, {i[1], 0}) : v;
  });
  EXPECT_TRUE(same(run("PRelu", {x, slope}), expected));
  EXPECT_TRUE(gradients_agree("PRelu", {x, slope}));
}

TEST(Clip, KeepsValuesBetweenBounds) {
  const Array x = floats({5}, {-2, -0.5, 0.25, 1, 9}), low = floats({}, {-1}), high = floats({}, {0.5});
  EXPECT_TRUE(same(run("Clip", {x, low, high}), floats({5}, {-1, -0.5, 0.25, 0.5, 0.5})));
  EXPECT_TRUE(same(run("Clip", {x, low}), floats({5}, {-1, -0.5, 0.25, 1, 9})));
  EXPECT_TRUE(same(run("Clip", {x, Array(), high}), floats({5}, {-2, -0.5, 0.25, 0.5, 0.5})));
  EXPECT_TRUE(same(run("Clip", {x}), x));
  EXPECT_TRUE(same(run("Clip", {ints({-5, 5}), ints({-1})[0], ints({2})[0]}), ints({-1, 2})));
  // Crossed bounds: the upper one wins.
  EXPECT_TRUE(same(run("Clip", {x, high, low}), array::full({5}, -1.0f)));
  EXPECT_TRUE(gradients_agree("Clip", {x, low, high}));
  EXPECT_EQ(fault_of("Clip", {x, floats({2}, {0, 1})}), Fault::model);
}

TEST(Gelu, RefusesAnUnknownApproximation) {
  EXPECT_EQ(fault_of("Gelu", {array::ones({1})}, {{"approximate", std::string("cubic")}}), Fault::model);
}

}  // namespace
}  // namespace assay::testing
