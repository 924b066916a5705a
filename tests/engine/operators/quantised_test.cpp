// Quantisation against whole-number arithmetic written out.

#include <cmath>

#include <assay/array_math.h>
#include "fixture.h"

namespace assay::testing {
namespace {

Array bytes(const Ints& values, DType type) { return ints(values).to(type); }

TEST(QuantizeLinear, RoundsHalvesToEvenAndSaturates) {
  const Array x = floats({7}, {0, 1, 1.5, 3, 5, 254, -4});
  // x / 2 is 0, 0.5, 0.75, 1.5, 2.5, 127, -2: halves go to the even neighbour; 10 is added.
  EXPECT_TRUE(same(run("QuantizeLinear", {x, floats({}, {2}), bytes({10}, DType::uint8)[0]}),
                   floats({7}, {10, 10, 11, 12, 12, 137, 8}), 0));
  EXPECT_TRUE(same(run("QuantizeLinear", {x * 3, floats({}, {2}), bytes({0}, DType::int8)[0]}),
                   floats({7}, {0, 2, 2, 4, 8, 127, -6}), 0));
}

TEST(QuantizeLinear, OneScaleAPositionOrABlock) {
  const Array x = floats({2, 4}, {1, 2, 3, 4, 10, 20, 30, 40});
  const Attributes rows{{"axis", std::int64_t{0}}};
  EXPECT_TRUE(same(run("QuantizeLinear", {x, floats({2}, {1, 10}), bytes({0, 1}, DType::uint8)}, rows),
                   floats({2, 4}, {1, 2, 3, 4, 2, 3, 4, 5}), 0));
  const Attributes blocks{{"axis", std::int64_t{1}}, {"block_size", std::int64_t{2}}};
  EXPECT_TRUE(same(run("DequantizeLinear", {x, floats({2, 2}, {1, 2, 3, 4})}, blocks),
                   floats({2, 4}, {1, 2, 6, 8, 30, 60, 120, 160}), 0));
  EXPECT_EQ(fault_of("QuantizeLinear", {x, floats({3}, {1, 2, 3})}), Fault::model);
}

TEST(QuantizeLinear, GradientsPassThroughRoundingAndNotThroughSaturation) {
  const array::Recording recorded(true);
  const Array x = floats({3}, {0.3F, 2.6F, 1000}).requires_grad_();
  const Array y = run("DequantizeLinear", {run("QuantizeLinear", {x, floats({}, {0.5})}), floats({}, {0.5})});
  EXPECT_TRUE(same(y.detach(), floats({3}, {0.5, 2.5, 127.5}), 1e-6));
  EXPECT_TRUE(same(array::gradients(std::span(&y, 1), std::span(&x, 1))[0], floats({3}, {1, 1, 0}), 0));
}

TEST(DynamicQuantizeLinear, TakesItsScaleFromTheTensor) {
  const Array x = random_tensor({5, 6}, 3);
  const auto results = run_all("DynamicQuantizeLinear", {x}, {}, 3);
  const double low = std::min(0.0, x.min().item<double>()), high = std::max(0.0, x.max().item<double>());
  const double scale = (high - low) / 255, zero = std::nearbyint(-low / scale);
  EXPECT_NEAR(results[1].item<double>(), scale, 1e-7);
  EXPECT_EQ(results[2].item<double>(), zero);
  const Array expected = tabulate({5, 6}, [&](const Ints& at) {
    return std::min(255.0, std::max(0.0, std::nearbyint(at_index(x, at) / scale) + zero));
  });
  EXPECT_LE((results[0] - expected).abs().max().item<double>(), 1);
  EXPECT_GE(results[0].eq(expected).sum().item<std::int64_t>(), 29);
}

}  // namespace
}  // namespace assay::testing
