// Curves by hand and against truth; intervals by how often they hold it.

#include "assay/audit/prediction.h"

#include <gmock/gmock.h>

#include <cmath>

#include <assay/extend/random.h>
#include "assay/audit/curves/curve_forms.h"

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

// Fitted by scikit-learn 1.9.1 (DecisionTreeRegressor of depth 3, five in a leaf) and SciPy 1.17.1
// (curve_fit).
const std::vector<double> bent_x{66, 91, 80, 30, 37,  89, 10, 84, 82, 52, 37, 35,
                                 33, 50, 55, 60, 100, 81, 66, 99, 29, 24, 65, 14},
    bent_y{0.848, 0.873, 0.792, 0.643, 0.716, 0.881, 0.318, 0.858, 0.841, 0.776, 0.75,  0.678,
           0.685, 0.818, 0.794, 0.824, 0.889, 0.871, 0.806, 0.887, 0.69,  0.547, 0.866, 0.447};

TEST(CurveForms, TreesAreThoseOfScikitLearn) {
  const std::pair<double, double> known[] = {{5, 0.5725714285714286},
                                             {30, 0.5725714285714286},
                                             {47, 0.7707999999999999},
                                             {60, 0.8272},
                                             {80, 0.8272},
                                             {120, 0.8714285714285713}};
  for (const auto& [at, value] : known) EXPECT_NEAR(fitted("tree", bent_x, bent_y, at), value, 1e-12) << at;
  // Nine pairs have no two leaves of five.
  const std::vector<double> nine{1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_NEAR(fitted("tree", nine, nine, 1), 5, 1e-12);
  // Equal x stay together: the only split is between 1 and 2.
  const std::vector<double> two{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}, both{0, 0, 0, 0, 0, 6, 9, 9, 9, 9, 9};
  EXPECT_NEAR(fitted("tree", two, both, 1.5), 1, 1e-12);
  EXPECT_NEAR(fitted("tree", two, both, 1.6), 9, 1e-12);
}

TEST(CurveForms, ExponentialsAreThoseOfSciPy) {
  const std::pair<double, double> known[] = {
      {20, 0.5300022967101619}, {55, 0.8079604068574582}, {90, 0.865566389117775}};
  for (const auto& [at, value] : known)
    EXPECT_NEAR(fitted("exponential", bent_x, bent_y, at), value, 1e-7) << at;
  std::vector<double> growing;
  for (const double x : bent_x) growing.push_back(0.2 + 0.01 * std::exp(0.05 * x));
  EXPECT_NEAR(fitted("exponential", bent_x, growing, 75), 0.2 + 0.01 * std::exp(0.05 * 75), 1e-7);
  EXPECT_NEAR(fitted("exponential", {2, 2, 2}, {1, 3, 5}, 7), 3, 1e-12);  // no slope
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
    EXPECT_EQ(found.errors.size(), curve_forms().size());
    for (const auto& [name, error] : found.errors) {
      if (name == found.form) {
        EXPECT_EQ(error, found.rmse);
      }
      EXPECT_GE(error, 0.99 * found.rmse) << name;  // one of 2 % less would have been taken
    }
    return found.form;
  };
  EXPECT_EQ(form([](double x) { return 0.1 + 0.008 * x; }), "line");
  EXPECT_EQ(form([](double x) { return 0.9 - 0.00009 * (x - 100) * (x - 100); }), "parabola");
  EXPECT_EQ(form([](double x) { return 0.9 - 0.8 * std::exp(-0.08 * x); }), "exponential");
  EXPECT_EQ(form([](double x) { return x < 40 ? 0.2 : 0.7; }), "steps");
  // What falls, and not along a curve.
  EXPECT_EQ(form([](double x) { return x < 40 ? 0.7 : x < 70 ? 0.2 : 0.5; }), "tree");
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
