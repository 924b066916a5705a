#include <assay/extend/random.h>

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

TEST(Rng, SameSeedAndPathGiveTheSameStream) {
  Rng a(7, {1, 2}), b(7, {1, 2});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(Rng, PathsAreIndependentStreams) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t i = 0; i < 100; ++i)
    for (std::uint64_t j = 0; j < 100; ++j) firsts.insert(Rng(7, {i, j}).next());
  EXPECT_EQ(firsts.size(), 10'000U);
  EXPECT_NE(Rng(7, {1, 2}).next(), Rng(7, {2, 1}).next());
}

TEST(Rng, NormalHasMeanZeroAndUnitVariance) {
  Rng rng(3);
  double sum = 0, squares = 0;
  const int n = 200'000;
  for (int i = 0; i < n; ++i) {
    const double value = rng.normal();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
}

TEST(Rng, SampleIsDistinctAscendingAndUniform) {
  std::vector<int> hits(10);
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const auto sample = Rng(seed).sample(10, 3);
    ASSERT_EQ(sample.size(), 3U);
    ASSERT_LT(sample[0], sample[1]);
    ASSERT_LT(sample[1], sample[2]);
    for (const auto i : sample) ++hits[i];
  }
  for (const int count : hits) EXPECT_NEAR(count, 1500, 150);
}

TEST(Rng, RestoredStateContinuesTheStream) {
  Rng rng(11);
  rng.next();
  const auto state = rng.state();
  const auto expected = rng.next();
  Rng other(0);
  other.restore(state);
  EXPECT_EQ(other.next(), expected);
}

}  // namespace
}  // namespace assay
