#include "assay/support/numbers/exact_count.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

ExactCount power(std::uint32_t base, int exponent) {
  ExactCount count(1);
  for (int i = 0; i < exponent; ++i) count.multiply(base);
  return count;
}

TEST(ExactCount, AgreesWithKnownPowers) {
  EXPECT_EQ(power(2, 10).to_string(), "1024");
  EXPECT_EQ(power(3, 40).to_string(), "12157665459056928801");
  EXPECT_EQ(power(2, 128).to_string(), "340282366920938463463374607431768211456");
  EXPECT_EQ(power(10, 30).to_string(), "1" + std::string(30, '0'));
  EXPECT_DOUBLE_EQ(power(2, 100).to_double(), 1267650600228229401496703205376.0);
}

TEST(ExactCount, StartsAnywhereAndKnowsZero) {
  EXPECT_EQ(ExactCount(4'000'000'000U).to_string(), "4000000000");
  ExactCount zero(7);
  zero.multiply(0);
  EXPECT_EQ(zero.to_string(), "0");
  EXPECT_EQ(zero.to_double(), 0);
}

ExactCount parsed(const std::string& digits) { return ExactCount::parse(digits).value(); }

TEST(ExactCount, ParsesWhatItPrints) {
  for (const char* text :
       {"0", "7", "999999999", "1000000000", "12157665459056928801", "100000000000000000000000000"}) {
    EXPECT_EQ(parsed(text).to_string(), text);
  }
  EXPECT_EQ(parsed("000000000000000012").to_string(), "12");
  for (const char* text : {"", "-1", "1.5", " 1", "1e3", "0x1"})
    EXPECT_FALSE(ExactCount::parse(text)) << text;
  EXPECT_FALSE(ExactCount::parse(std::string(ExactCount::max_digits + 1, '1')));
}

TEST(ExactCount, MultipliesLikePowersAddUp) {
  EXPECT_EQ(power(3, 40).times(power(3, 61)), power(3, 101));
  EXPECT_EQ(power(3, 40).times_power(3, 61), power(3, 101));
  EXPECT_EQ(parsed("999999999999999999").times(parsed("999999999999999999")).to_string(),
            "999999999999999998000000000000000001");
  EXPECT_TRUE(parsed("123456789123456789").times(ExactCount(0)).is_zero());
}

TEST(ExactCount, OrdersByValue) {
  EXPECT_LT(parsed("999999999"), parsed("1000000000"));
  EXPECT_GT(parsed("2000000000"), parsed("1999999999"));
  EXPECT_EQ(parsed("007"), ExactCount(7));
  // One in 10^30 apart: the same as float64.
  EXPECT_LT(power(10, 30), parsed("1" + std::string(29, '0') + "1"));
}

}  // namespace
}  // namespace assay
