#include <limits>

#include "fixture.h"

namespace assay::testing {
namespace {

constexpr std::int64_t giant = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::lowest();

Tensor counted(const Ints& shape) {
  double next = 0;
  return tabulate(shape, [&](const Ints&) { return next++; });
}

TEST(Reshape, KeepsDimensionsForZeroAndInfersOne) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(run("Reshape", {x, ints({0, -1})}).sizes(), (Ints{2, 12}));
  EXPECT_EQ(run("Reshape", {x, ints({4, 0, 2})}).sizes(), (Ints{4, 3, 2}));
  EXPECT_TRUE(same(run("Reshape", {x, ints({24})}), x.flatten()));
  EXPECT_EQ(run("Reshape", {at::ones({0, 3}), ints({3, 0})}, {{"allowzero", std::int64_t{1}}}).sizes(),
            (Ints{3, 0}));
  EXPECT_TRUE(gradients_agree("Reshape", {x, ints({6, 4})}));
  for (const Ints& shape :
       {Ints{5, -1}, Ints{-1, -1}, Ints{7}, Ints{-2, 12}, Ints{2, 3, 4, 0}, Ints{giant, 2}}) {
    EXPECT_EQ(fault_of("Reshape", {x, ints(shape)}), Fault::model) << to_string(shape);
  }
  EXPECT_EQ(fault_of("Reshape", {x, ints(Ints(100, 1))}), Fault::model);
  EXPECT_EQ(fault_of("Reshape", {x, x}), Fault::model);
}

TEST(Flatten, MakesAMatrix) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(run("Flatten", {x}).sizes(), (Ints{2, 12}));
  EXPECT_EQ(run("Flatten", {x}, {{"axis", std::int64_t{0}}}).sizes(), (Ints{1, 24}));
  EXPECT_EQ(run("Flatten", {x}, {{"axis", std::int64_t{3}}}).sizes(), (Ints{24, 1}));
  EXPECT_EQ(run("Flatten", {x}, {{"axis", std::int64_t{-1}}}).sizes(), (Ints{6, 4}));
  EXPECT_EQ(fault_of("Flatten", {x}, {{"axis", std::int64_t{4}}}), Fault::model);
}

TEST(Squeeze, DropsAxesOfOne) {
  const Tensor x = counted({1, 3, 1, 2});
  EXPECT_EQ(run("Squeeze", {x}).sizes(), (Ints{3, 2}));
  EXPECT_EQ(run("Squeeze", {x, ints({-2})}).sizes(), (Ints{1, 3, 2}));
  EXPECT_EQ(run("Squeeze", {x, ints({0, 2})}).sizes(), (Ints{3, 2}));
  EXPECT_EQ(fault_of("Squeeze", {x, ints({1})}), Fault::model);
  EXPECT_EQ(run("Unsqueeze", {counted({3, 2}), ints({0, -2})}).sizes(), (Ints{1, 3, 1, 2}));
  EXPECT_EQ(run("Unsqueeze", {counted({3, 2}), ints({3, 0})}).sizes(), (Ints{1, 3, 2, 1}));
  EXPECT_EQ(fault_of("Unsqueeze", {x, ints({0, 0})}), Fault::model);
  EXPECT_EQ(fault_of("Unsqueeze", {x, ints({9})}), Fault::model);
}

TEST(Transpose, MovesAxes) {
  const Tensor x = counted({2, 3, 4});
  const Tensor expected = tabulate({4, 2, 3}, [&](const Ints& i) { return at_index(x, {i[1], i[2], i[0]}); });
  EXPECT_TRUE(same(run("Transpose", {x}, {{"perm", Ints{2, 0, 1}}}), expected));
  EXPECT_EQ(run("Transpose", {x}).sizes(), (Ints{4, 3, 2}));
  EXPECT_TRUE(gradients_agree("Transpose", {x}, {{"perm", Ints{2, 0, 1}}}));
  EXPECT_EQ(fault_of("Transpose", {x}, {{"perm", Ints{0, 0, 1}}}), Fault::model);
  EXPECT_EQ(fault_of("Transpose", {x}, {{"perm", Ints{0, 1}}}), Fault::model);
  EXPECT_EQ(fault_of("Transpose", {x}, {{"perm", Ints{0, 1, 3}}}), Fault::model);
}

TEST(Concat, PutsTensorsSideBySide) {
  const Tensor a = counted({2, 2}), b = counted({2, 1});
  EXPECT_TRUE(same(run("Concat", {a, b}, {{"axis", std::int64_t{-1}}}), floats({2, 3}, {0, 1, 0, 2, 3, 1})));
  EXPECT_TRUE(gradients_agree("Concat", {a, b}, {{"axis", std::int64_t{1}}}));
  EXPECT_EQ(fault_of("Concat", {a, b}, {{"axis", std::int64_t{0}}}), Fault::model);
  EXPECT_EQ(fault_of("Concat", {a, counted({2})}, {{"axis", std::int64_t{0}}}), Fault::model);
  EXPECT_EQ(fault_of("Concat", {}, {{"axis", std::int64_t{0}}}), Fault::model);
}

TEST(Split, CutsInto) {
  const Tensor x = counted({2, 7});
  const Attributes axis{{"axis", std::int64_t{1}}};
  const auto given = run_all("Split", {x, ints({2, 0, 5})}, axis, 3);
  EXPECT_TRUE(same(given[0], floats({2, 2}, {0, 1, 7, 8})));
  EXPECT_EQ(given[1].sizes(), (Ints{2, 0}));
  EXPECT_TRUE(same(given[2].select(0, 1), floats({5}, {9, 10, 11, 12, 13})));
  const auto equal = run_all("Split", {x}, {{"axis", std::int64_t{-1}}, {"num_outputs", std::int64_t{3}}}, 3);
  EXPECT_EQ(equal[0].size(1), 3);
  EXPECT_EQ(equal[2].size(1), 1);
  EXPECT_TRUE(gradients_agree("Split", {x, ints({3, 4})}, axis, 2));
  EXPECT_EQ(fault_of("Split", {x, ints({8, -1})}, axis), Fault::model);
  EXPECT_EQ(fault_of("Split", {x, ints({3})}, axis), Fault::model);
  EXPECT_EQ(fault_of("Split", {x}, {{"num_outputs", std::int64_t{0}}}), Fault::model);
}

// The ONNX rule, element by element. It differs from Python's for a start before the first element and a
// negative step: the first element is taken.
std::vector<std::int64_t> slice_positions(std::int64_t size, std::int64_t start, std::int64_t end,
                                          std::int64_t step) {
  const auto clamp = [&](std::int64_t v, std::int64_t low, std::int64_t high) {
    if (v < 0) v += size;
    return std::min(high, std::max(low, v));
  };
  std::vector<std::int64_t> positions;
  if (step > 0) {
    for (std::int64_t i = clamp(start, 0, size); i < clamp(end, 0, size); i += step) positions.push_back(i);
  } else {
    for (std::int64_t i = clamp(start, 0, size - 1); i > clamp(end, -1, size - 1); i += step)
      positions.push_back(i);
  }
  return positions;
}

TEST(Slice, ClampsBoundsAsTheStandardSays) {
  const Tensor x = counted({5, 2});
  for (const std::int64_t start : {least, Ints::value_type{-7}, Ints::value_type{-2}, Ints::value_type{0},
                                   Ints::value_type{3}, Ints::value_type{9}}) {
    for (const std::int64_t end : {least, Ints::value_type{-6}, Ints::value_type{-1}, Ints::value_type{1},
                                   Ints::value_type{5}, giant}) {
      for (const std::int64_t step : {-7, -2, -1, 1, 2, 7}) {
        const Tensor actual = run("Slice", {x, ints({start}), ints({end}), ints({-2}), ints({step})});
        const Tensor expected = x.index_select(0, ints(slice_positions(5, start, end, step)));
        EXPECT_TRUE(same(actual, expected)) << start << ':' << end << ':' << step;
      }
    }
  }
  EXPECT_TRUE(same(run("Slice", {x, ints({1, 0}), ints({3, 1})}), floats({2, 1}, {2, 4})));
  EXPECT_TRUE(gradients_agree("Slice", {x, ints({4, 1}), ints({0, 2}), ints({0, 1}), ints({-2, 1})}));
}

TEST(Slice, RefusesWhatMakesNoSense) {
  const Tensor x = counted({5, 2}), one = ints({1});
  EXPECT_EQ(fault_of("Slice", {x, one, one, one, ints({0})}), Fault::model);
  EXPECT_EQ(fault_of("Slice", {x, one, one, ints({2})}), Fault::model);
  EXPECT_EQ(fault_of("Slice", {x, one, ints({1, 2})}), Fault::model);
  EXPECT_EQ(fault_of("Slice", {x, ints({0, 0}), ints({1, 1}), ints({0, 0})}), Fault::model);
  EXPECT_EQ(fault_of("Slice", {x, ints({0, 0, 0}), ints({1, 1, 1})}), Fault::model);
  // Steps at the ends of the range of integers.
  EXPECT_EQ(run("Slice", {x, ints({4}), ints({least}), ints({0}), ints({least})}).size(0), 1);
  EXPECT_EQ(run("Slice", {x, ints({0}), ints({giant}), ints({0}), ints({giant})}).size(0), 1);
}

TEST(Expand, BroadcastsBothWays) {
  const Tensor x = counted({3, 1});
  EXPECT_EQ(run("Expand", {x, ints({2, 1, 4})}).sizes(), (Ints{2, 3, 4}));
  EXPECT_EQ(run("Expand", {x, ints({1})}).sizes(), (Ints{3, 1}));
  EXPECT_TRUE(same(run("Expand", {x, ints({2})}), floats({3, 2}, {0, 0, 1, 1, 2, 2})));
  EXPECT_TRUE(gradients_agree("Expand", {x, ints({2, 1, 4})}));
  EXPECT_EQ(fault_of("Expand", {x, ints({2, 2})}), Fault::model);
  EXPECT_EQ(fault_of("Expand", {x, ints({-1, 2})}), Fault::model);
}

TEST(Tile, RepeatsAlongAxes) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(same(run("Tile", {x, ints({1, 2})}), floats({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4})));
  EXPECT_EQ(run("Tile", {x, ints({0, 3})}).sizes(), (Ints{0, 6}));
  EXPECT_TRUE(gradients_agree("Tile", {x, ints({2, 3})}));
  EXPECT_EQ(fault_of("Tile", {x, ints({2})}), Fault::model);
  EXPECT_EQ(fault_of("Tile", {x, ints({2, -1})}), Fault::model);
}

TEST(DepthToSpace, MovesChannelsIntoBlocks) {
  const Tensor x = counted({2, 8, 2, 3});
  for (const std::string mode : {"DCR", "CRD"}) {
    const Tensor expected = tabulate({2, 2, 4, 6}, [&](const Ints& i) {
      const std::int64_t row = i[2] % 2, column = i[3] % 2;
      const std::int64_t channel =
          mode == "DCR" ? (row * 2 + column) * 2 + i[1] : i[1] * 4 + row * 2 + column;
      return at_index(x, {i[0], channel, i[2] / 2, i[3] / 2});
    });
    const Attributes attributes{{"blocksize", std::int64_t{2}}, {"mode", mode}};
    EXPECT_TRUE(same(run("DepthToSpace", {x}, attributes), expected));
    EXPECT_TRUE(gradients_agree("DepthToSpace", {x}, attributes));
    if (mode == "DCR") {
      EXPECT_TRUE(same(run("SpaceToDepth", {expected}, {{"blocksize", std::int64_t{2}}}), x));
    }
  }
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{3}, giant}) {
    EXPECT_EQ(fault_of("DepthToSpace", {x}, {{"blocksize", size}}), Fault::model);
    EXPECT_EQ(fault_of("SpaceToDepth", {x}, {{"blocksize", size}}), Fault::model);
  }
  EXPECT_TRUE(gradients_agree("SpaceToDepth", {counted({1, 2, 2, 4})}, {{"blocksize", std::int64_t{2}}}));
}

}  // namespace
}  // namespace assay::testing
