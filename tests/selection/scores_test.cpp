#include <assay/selection.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/extend/random.h>

namespace assay::selection {
namespace {

const float nan_value = std::numeric_limits<float>::quiet_NaN();

double score(const char* name, std::vector<float> p) { return doubts().find(name).score(p); }

TEST(Doubts, HandWorked) {
  EXPECT_NEAR(score("deepgini", {0.7F, 0.2F, 0.1F}), 0.46, 1e-7);
  EXPECT_NEAR(score("entropy", {0.7F, 0.2F, 0.1F}), 0.8018185525, 1e-7);
  EXPECT_NEAR(score("margin", {0.2F, 0.7F, 0.1F}), 0.5, 1e-7);
  EXPECT_NEAR(score("margin", {0.45F, 0.1F, 0.45F}), 1, 1e-7);
  EXPECT_NEAR(score("max-softmax", {0.1F, 0.2F, 0.7F}), 0.3, 1e-7);
  ASSERT_FALSE(doubts().empty());
  for (const Doubt& d : doubts()) {
    EXPECT_EQ(d.score(std::vector<float>{0, 1, 0}), 0) << d.name;
    EXPECT_TRUE(std::isnan(d.score(std::vector<float>{0.5F, nan_value, 0.5F}))) << d.name;
    EXPECT_TRUE(std::isnan(d.score(std::vector<float>{nan_value, 0.5F, 0.5F}))) << d.name;
  }
  EXPECT_NEAR(score("deepgini", std::vector<float>(10, 0.1F)), 0.9, 1e-7);  // 1 - 1/K is the most
  EXPECT_THROW(doubts().find("deepginy"), Error);
}

TEST(OrderByScore, IsStableAndPutsUndefinedFirst) {
  const double nan = std::nan("");
  const ScoreOrder order = order_by_score(std::vector<double>{0.5, nan, 0.9, 0.5, nan, -1});
  EXPECT_EQ(order.order, (std::vector<std::size_t>{1, 4, 2, 0, 3, 5}));
  EXPECT_EQ(order.undefined, 2U);
  EXPECT_TRUE(order_by_score({}).order.empty());
}

TEST(OrderRandom, IsAPermutationOfItsSeed) {
  auto order = order_random(100, 7);
  EXPECT_EQ(order, order_random(100, 7));
  EXPECT_NE(order, order_random(100, 8));
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
}

TEST(Apfd, HandWorked) {
  // Five tests, faults at places 1 and 4: 1 - 5 / 10 + 1 / 10.
  const Apfd result = apfd(std::vector<std::size_t>{2, 0, 1, 4, 3}, {false, false, true, false, true});
  EXPECT_DOUBLE_EQ(*result.value, 0.6);
  EXPECT_DOUBLE_EQ(*result.greatest, 0.8);
  EXPECT_DOUBLE_EQ(*apfd(std::vector<std::size_t>{0}, {true}).value, 0.5);
}

TEST(Apfd, IsUndefinedWithoutFaults) {
  EXPECT_FALSE(apfd(std::vector<std::size_t>{0, 1}, {false, false}).value);
  EXPECT_FALSE(apfd({}, {}).value);
  EXPECT_TRUE(apfd({}, {}).curve.empty());
}

TEST(Apfd, RefusesWhatIsNoPermutation) {
  EXPECT_THROW(apfd(std::vector<std::size_t>{0, 0}, {true, true}), Error);
  EXPECT_THROW(apfd(std::vector<std::size_t>{0, 2}, {true, true}), Error);
  EXPECT_THROW(apfd(std::vector<std::size_t>{0}, {true, true}), Error);
}

double area(const std::vector<std::pair<double, double>>& curve) {
  double sum = 0;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    sum += (curve[i].first - curve[i - 1].first) * (curve[i].second + curve[i - 1].second) / 2;
  }
  return sum;
}

TEST(Apfd, IsTheAreaUnderItsCurveAndNeverExceedsTheBest) {
  Rng rng(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<bool> fault(1 + rng.below(30));
    for (std::size_t i = 0; i < fault.size(); ++i) fault[i] = rng.below(3) == 0;
    fault[rng.below(fault.size())] = true;
    const auto order = order_random(fault.size(), static_cast<std::uint64_t>(trial));
    const Apfd result = apfd(order, fault);
    EXPECT_NEAR(*result.value, area(result.curve), 1e-12);
    EXPECT_EQ(result.curve.back(), (std::pair<double, double>(1, 1)));
    EXPECT_LE(*result.value, *result.greatest + 1e-12);
    std::vector<double> first(fault.begin(), fault.end());
    EXPECT_NEAR(*apfd(order_by_score(first).order, fault).value, *result.greatest, 1e-12);
  }
}

}  // namespace
}  // namespace assay::selection
