#include "assay/engine/elements.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace assay {
namespace {

std::optional<std::pair<float, float>> range(const std::vector<float>& values) {
  return range_of(Array::of<float>({static_cast<std::int64_t>(values.size())}, values));
}

TEST(Elements, RangeIsFromTheLeastToTheGreatest) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(range({-2, 5, 0.5F, -0.25F}), std::pair(-2.0F, 5.0F));
  EXPECT_EQ(range({-3, -1, -2}), std::pair(-3.0F, -1.0F));
  EXPECT_EQ(range({1e-40F, 0}), std::pair(0.0F, 1e-40F));
  EXPECT_EQ(range({7}), std::pair(7.0F, 7.0F));
  EXPECT_EQ(range({-infinity, 1, infinity}), std::pair(-infinity, infinity));
}

TEST(Elements, AreFiniteUnlessOneIsNot) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto finite = [](const std::vector<float>& values) {
    return has_finite_elements(Array::of<float>({static_cast<std::int64_t>(values.size())}, values));
  };
  const std::vector<float> good{
      0, -0.0F, 1e-45F, std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), -3, 7};
  EXPECT_TRUE(finite({}));
  EXPECT_TRUE(finite(good));
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::signaling_NaN()}) {
      std::vector<float> values = good;
      values[i] = bad;
      EXPECT_FALSE(finite(values)) << i;
    }
  }
}

TEST(Elements, NothingHasARangeWithoutNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(range({}));
  EXPECT_FALSE(range({1, nan, 2}));
  EXPECT_FALSE(range({1, -nan, 2}));
}

}  // namespace
}  // namespace assay
