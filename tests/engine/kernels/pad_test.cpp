#include <limits>

#include "fixture.h"

namespace assay::testing {
namespace {

// Walks from a position outside the axis back into it, one step at a time.
std::int64_t walk_in(std::int64_t at, std::int64_t size, const std::string& mode) {
  while (at < 0 || at >= size) {
    if (mode == "edge") return at < 0 ? 0 : size - 1;
    if (mode == "wrap") at += at < 0 ? size : -size;
    if (mode == "reflect") at = at < 0 ? -at : 2 * (size - 1) - at;
  }
  return at;
}

TEST(Pad, ContinuesATensorAsTheModeSays) {
  const Tensor x = random_tensor({3, 4}, 1);
  for (const std::string mode : {"constant", "edge", "reflect", "wrap"}) {
    for (const Ints& pads : {Ints{1, 2, 2, 0}, Ints{0, 3, 0, 3}, Ints{-1, 1, 2, -2}, Ints{0, 0, 0, 0}}) {
      const Tensor expected = tabulate({3 + pads[0] + pads[2], 4 + pads[1] + pads[3]}, [&](const Ints& i) {
        const Ints from{i[0] - pads[0], i[1] - pads[1]};
        if (mode == "constant") return at_index(x, from, 0.5);
        return at_index(x, {walk_in(from[0], 3, mode), walk_in(from[1], 4, mode)});
      });
      const std::vector<Tensor> inputs{x, ints(pads), mode == "constant" ? floats({}, {0.5}) : Tensor()};
      EXPECT_TRUE(same(run("Pad", inputs, {{"mode", mode}}), expected)) << mode << to_string(pads);
      EXPECT_TRUE(gradients_agree("Pad", {x, ints(pads)}, {{"mode", mode}}));
    }
  }
}

TEST(Pad, TouchesOnlyTheAxesNamed) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(same(run("Pad", {x, ints({1, 0}), Tensor(), ints({-1})}), floats({2, 3}, {0, 1, 2, 0, 3, 4})));
  EXPECT_TRUE(same(run("Pad", {ints({1}), ints({0, 1}), ints({9})[0]}), ints({1, 9})));
}

TEST(Pad, RefusesWhatMakesNoSense) {
  const Tensor x = at::ones({2, 2});
  const std::int64_t giant = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(fault_of("Pad", {x, ints({1, 1})}), Fault::model);
  EXPECT_EQ(fault_of("Pad", {x, ints({-3, 0, 0, 0})}), Fault::model);
  EXPECT_EQ(fault_of("Pad", {x, ints({giant, 0, 0, 0})}), Fault::model);
  EXPECT_EQ(fault_of("Pad", {x, ints({std::int64_t{1} << 40, 0, 0, 0})}), Fault::resources);
  EXPECT_EQ(fault_of("Pad", {x, ints({0, 0, 0, 0})}, {{"mode", std::string("mirror")}}), Fault::model);
  EXPECT_EQ(fault_of("Pad", {at::ones({0, 2}), ints({1, 0, 0, 0})}, {{"mode", std::string("edge")}}),
            Fault::model);
  EXPECT_TRUE(
      same(run("Pad", {at::ones({1}), ints({2, 1})}, {{"mode", std::string("reflect")}}), at::ones({4})));
}

}  // namespace
}  // namespace assay::testing
