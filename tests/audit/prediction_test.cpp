// Curves by hand and against truth; intervals by how often they hold it.

#include "assay/audit/prediction.h"

#include <gmock/gmock.h>

#include <cmath>

#include <assay/extend/random.h>

namespace assay::audit {
namespace {

double fitted(const std::string& name, const std::vector<double>& x, const std::vector<double>& y,
              double at) {
  for (const CurveForm& form : curve_forms())
    if (form.name == name) return form.fit(x, y)(at);
  ADD_FAILURE() << name;
  return 0;
}

TEST(CurveForms, FitWhatTheyAre) {
  const std::vector<double> x{1, 2, 3, 5, 8};
  std::vector<double> straight, bent;
  for (const double one : x) {
    straight.push_back(2 - 0.5 * one);
    bent.push_back(1 + one - 0.25 * one * one);
  }
  for (const double at : {0.0, 4.0, 9.0}) {
    EXPECT_NEAR(fitted("line", x, straight, at), 2 - 0.5 * at, 1e-12);
    EXPECT_NEAR(fitted("parabola", x, bent, at), 1 + at - 0.25 * at * at, 1e-12);
    EXPECT_NEAR(fitted("parabola", x, straight, at), 2 - 0.5 * at, 1e-12);
  }
  // By hand: mean x 2, mean y 4/3, slope 1/2.
  EXPECT_NEAR(fitted("line", {1, 2, 3}, {1, 1, 2}, 4), 4.0 / 3 + 1, 1e-12);
  // Two different x allow no bend, one no slope.
  EXPECT_NEAR(fitted("parabola", {1, 1, 3}, {0, 2, 5}, 3), 5, 1e-12);
  EXPECT_NEAR(fitted("line", {2, 2}, {1, 3}, 7), 2, 1e-12);
}

// y in the order of x: 1, 3, 2 (one value at x = 3 is the mean of 1 and 3), 6; 3 and 2 violate the order.
TEST(CurveForms, StepsPoolWhatFalls) {
  const std::vector<double> x{3, 1, 2, 3, 4}, y{1, 1, 3, 3, 6};
  EXPECT_NEAR(fitted("steps", x, y, 0), 1, 1e-12);
  EXPECT_NEAR(fitted("steps", x, y, 1.5), 1, 1e-12);
  for (const double at : {2.0, 3.0, 3.9}) EXPECT_NEAR(fitted("steps", x, y, at), 7.0 / 3, 1e-12) << at;
  EXPECT_NEAR(fitted("steps", x, y, 4), 6, 1e-12);
  EXPECT_NEAR(fitted("steps", x, y, 90), 6, 1e-12);
}

struct Drawn {
  std::vector<double> covered, found;
};

// Found shares rise with covered items as `truth` says, with noise.
Drawn drawn(std::size_t count, std::uint64_t seed, const std::function<double(double)>& truth) {
  Rng rng(seed, {1});
  Drawn made;
  for (std::size_t i = 0; i < count; ++i) {
    made.covered.push_back(static_cast<double>(10 + rng.below(90)));
    made.found.push_back(truth(made.covered.back()) + 0.02 * rng.normal());
  }
  return made;
}

TEST(Prediction, TakesTheFormOfTheTruth) {
  const auto form = [](const std::function<double(double)>& truth) {
    const Drawn made = drawn(300, 5, truth);
    const Prediction found = predicted_share(made.covered, made.found, 50);
    EXPECT_NEAR(found.share, truth(50), 0.02);
    EXPECT_GT(found.r2, 0.9);
    EXPECT_NEAR(found.rmse, 0.02, 0.005);
    return found.form;
  };
  EXPECT_EQ(form([](double x) { return 0.1 + 0.008 * x; }), "line");
  EXPECT_EQ(form([](double x) { return 0.9 - 0.00009 * (x - 100) * (x - 100); }), "parabola");
  EXPECT_EQ(form([](double x) { return x < 40 ? 0.2 : 0.7; }), "steps");
}

TEST(Prediction, IntervalsHoldFurtherPairs) {
  const auto truth = [](double x) { return 0.1 + 0.008 * x; };
  std::size_t held = 0;
  constexpr std::size_t trials = 400;
  for (std::size_t t = 0; t < trials; ++t) {
    const Drawn made = drawn(100, 10 + t, truth), further = drawn(1, 9'000 + t, truth);
    if (further.covered[0] < std::ranges::min(made.covered) ||
        further.covered[0] > std::ranges::max(made.covered))
      continue;
    const Prediction found = predicted_share(made.covered, made.found, further.covered[0]);
    held += further.found[0] >= found.low && further.found[0] <= found.high;
  }
  // 95 %, less four standard deviations of the count.
  EXPECT_GE(held, static_cast<std::size_t>(0.95 * trials - 4 * std::sqrt(0.95 * 0.05 * trials)));
  EXPECT_LT(held, trials);
}

TEST(Prediction, SaysWhyThereIsNone) {
  const std::vector<double> covered{1, 2, 3, 4, 5, 6}, found{.1, .2, .3, .4, .5, .6}, same(6, 0.5);
  const auto reason = [&](const std::vector<double>& x, const std::vector<double>& y, double at) {
    const Prediction made = predicted_share(x, y, at);
    EXPECT_EQ(std::isnan(made.share), !made.reason.empty());
    return made.reason;
  };
  EXPECT_EQ(reason(covered, found, 4), "");
  EXPECT_THAT(reason(covered, found, 7), testing::HasSubstr("more than any subset"));
  EXPECT_THAT(reason(covered, found, 0), testing::HasSubstr("less than any subset"));
  EXPECT_THAT(reason(same, found, 0.5), testing::HasSubstr("cover as much"));
  EXPECT_THAT(reason(covered, same, 4), testing::HasSubstr("as many faults"));
  // Six residuals cannot bound 95 %: the interval is everything.
  const Prediction few = predicted_share(covered, found, 4);
  EXPECT_EQ(few.low, 0);
  EXPECT_EQ(few.high, 1);
}

}  // namespace
}  // namespace assay::audit
