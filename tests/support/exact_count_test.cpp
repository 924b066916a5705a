#include "assay/support/exact_count.h"

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

}  // namespace
}  // namespace assay
