#include <assay/float16.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay {
namespace {

TEST(Float16, EveryNumberComesBack) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float a = from_float16(half), b = from_bfloat16(half);
    if (std::isnan(a))
      EXPECT_TRUE(std::isnan(from_float16(to_float16(a))));
    else
      EXPECT_EQ(to_float16(a), half);
    if (std::isnan(b))
      EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(b))));
    else
      EXPECT_EQ(to_bfloat16(b), half);
  }
}

// Between each two neighbours: nearer ones win, and of two as near the one with an even last bit.
TEST(Float16, RoundsToTheNearestAndToEven) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const float low = from_float16(bits), high = from_float16(next), middle = low + (high - low) / 2;
    EXPECT_EQ(to_float16(middle), bits % 2 == 0 ? bits : next);
    EXPECT_EQ(to_float16(std::nextafter(middle, low)), bits);
    EXPECT_EQ(to_float16(std::nextafter(middle, high)), next);
    EXPECT_EQ(to_float16(-middle), to_float16(middle) | 0x8000);
  }
  EXPECT_EQ(to_float16(65519.996F), 0x7bff);
  EXPECT_EQ(to_float16(65520.0F), 0x7c00);
  EXPECT_EQ(to_float16(1e30F), 0x7c00);
  EXPECT_EQ(to_float16(std::numeric_limits<float>::denorm_min()), 0);
}

TEST(Bfloat16, RoundsToTheNearestAndToEven) {
  for (std::uint16_t bits = 0; bits < 0x7f7f; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const float low = from_bfloat16(bits), high = from_bfloat16(next), middle = low + (high - low) / 2;
    EXPECT_EQ(to_bfloat16(middle), bits % 2 == 0 ? bits : next);
    EXPECT_EQ(to_bfloat16(std::nextafter(middle, high)), next);
  }
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
}

}  // namespace
}  // namespace assay
