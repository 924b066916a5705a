#include <limits>

#include "fixture.h"

namespace assay::testing {
namespace {

TEST(Shape, GivesDimensionsBetweenStartAndEnd) {
  const Tensor x = at::ones({2, 3, 4});
  const auto shape = [&](std::int64_t start, std::int64_t end) {
    return run("Shape", {x}, {{"start", start}, {"end", end}});
  };
  EXPECT_TRUE(same(run("Shape", {x}), ints({2, 3, 4})));
  EXPECT_TRUE(same(run("Shape", {x}, {{"start", std::int64_t{1}}}), ints({3, 4})));
  EXPECT_TRUE(same(shape(-2, -1), ints({3})));
  EXPECT_TRUE(same(shape(-9, 9), ints({2, 3, 4})));
  EXPECT_TRUE(same(shape(2, 1), ints({})));
  EXPECT_TRUE(same(run("Shape", {at::ones({})}), ints({})));
  EXPECT_TRUE(same(run("Size", {x}), ints({24})[0]));
}

TEST(ConstantOfShape, FillsWithTheValue) {
  EXPECT_TRUE(same(run("ConstantOfShape", {ints({2, 3})}), at::zeros({2, 3})));
  const Attributes sevens{{"value", Array::of<std::int64_t>({1}, {7})}};
  EXPECT_TRUE(same(run("ConstantOfShape", {ints({2})}, sevens), ints({7, 7})));
  EXPECT_EQ(run("ConstantOfShape", {ints({})}, sevens).dim(), 0);
  EXPECT_EQ(fault_of("ConstantOfShape", {ints({-1})}), Fault::model);
  EXPECT_EQ(fault_of("ConstantOfShape", {ints({1})}, {{"value", Array::of<float>({2}, {1, 2})}}),
            Fault::model);
  EXPECT_EQ(fault_of("ConstantOfShape", {ints({1})}, {{"value", std::int64_t{3}}}), Fault::model);
}

TEST(Range, StepsTowardsTheLimit) {
  const auto range = [](const Tensor& a, const Tensor& b, const Tensor& c) {
    return run("Range", {a[0], b[0], c[0]});
  };
  EXPECT_TRUE(same(range(ints({3}), ints({9}), ints({3})), ints({3, 6})));
  EXPECT_TRUE(same(range(ints({10}), ints({4}), ints({-2})), ints({10, 8, 6})));
  EXPECT_TRUE(same(range(ints({5}), ints({4}), ints({1})), ints({})));
  EXPECT_TRUE(
      same(range(floats({1}, {1}), floats({1}, {2}), floats({1}, {0.4f})), floats({3}, {1, 1.4f, 1.8f})));
  const std::int64_t low = std::numeric_limits<std::int64_t>::lowest(),
                     high = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(fault_of("Range", {ints({low})[0], ints({high})[0], ints({1})[0]}), Fault::resources);
  EXPECT_EQ(fault_of("Range", {ints({0})[0], ints({3})[0], ints({0})[0]}), Fault::model);
  EXPECT_EQ(fault_of("Range", {at::zeros({}), at::ones({}), at::zeros({})}), Fault::model);
  EXPECT_EQ(fault_of("Range", {at::zeros({}), at::full({}, 1e30), at::ones({})}), Fault::resources);
}

TEST(EyeLike, PutsOnesOnADiagonal) {
  const Tensor x = at::zeros({3, 4});
  for (const std::int64_t k : {-5, -1, 0, 2, 9}) {
    const Tensor expected = tabulate({3, 4}, [&](const Ints& i) { return i[1] - i[0] == k ? 1 : 0; });
    EXPECT_TRUE(same(run("EyeLike", {x}, {{"k", k}}), expected)) << k;
  }
  EXPECT_EQ(run("EyeLike", {x}, {{"dtype", std::int64_t{7}}}).scalar_type(), at::kLong);
  EXPECT_EQ(fault_of("EyeLike", {at::ones({3})}), Fault::model);
}

}  // namespace
}  // namespace assay::testing
