#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "assay/support/numbers/simd_sums.h"

namespace assay {
namespace {

TEST(Abreast, SumsAreThoseOfAllNumbers) {
  for (const std::size_t count : {0, 1, 31, 32, 33, 100}) {
    std::vector<float> numbers(count);
    std::iota(numbers.begin(), numbers.end(), -7.5F);
    EXPECT_EQ(simd_sum(numbers), std::accumulate(numbers.begin(), numbers.end(), 0.0)) << count;
  }
}

TEST(Abreast, ExtremesAreThoseOfAllNumbers) {
  std::vector<float> numbers(37, 0.5F);
  numbers[3] = -2;
  numbers[36] = 4;
  EXPECT_EQ(extremes(numbers).least, -2);
  EXPECT_EQ(extremes(numbers).greatest, 4);
  EXPECT_EQ(extremes(std::span(numbers).first(3)).least, 0.5F);
  EXPECT_EQ(extremes({}).least, std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace assay
