#include <assay/retraining.h>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay::retraining {
namespace {

TEST(StudentQuantile, AgreesWithTheTables) {
  // Two-sided 95 % and 99 % by degrees of freedom, as printed.
  const std::vector<std::pair<double, double>> at_975{{1, 12.7062047}, {2, 4.3026527},  {3, 3.1824463},
                                                      {4, 2.7764451},  {5, 2.5705818},  {10, 2.2281389},
                                                      {30, 2.0422725}, {120, 1.9799304}};
  for (const auto& [degrees, t] : at_975) EXPECT_NEAR(student_quantile(0.975, degrees), t, 1e-7) << degrees;
  EXPECT_NEAR(student_quantile(0.995, 4), 4.6040949, 1e-7);
  EXPECT_NEAR(student_quantile(0.9, 7), 1.4149239, 1e-7);
  EXPECT_NEAR(student_quantile(0.975, 1e9), 1.9599640, 1e-6);
}

TEST(StudentQuantile, HasClosedFormsForOneAndTwoDegrees) {
  for (const double p : {0.5001, 0.6, 0.9, 0.975, 0.9999, 1 - 1e-9}) {
    EXPECT_NEAR(student_quantile(p, 1) / std::tan(M_PI * (p - 0.5)), 1, 1e-6) << p;
    EXPECT_NEAR(student_quantile(p, 2) / ((2 * p - 1) * std::sqrt(2 / (4 * p * (1 - p)))), 1, 1e-6) << p;
  }
}

TEST(StudentQuantile, IsTheInverseOfTheProbabilityAndSymmetric) {
  for (const double degrees : {1.0, 2.0, 4.0, 9.0, 33.0, 250.0}) {
    EXPECT_NEAR(student_quantile(0.5, degrees), 0, 1e-9);
    for (const double p : {0.01, 0.2, 0.5, 0.7, 0.975, 0.999}) {
      EXPECT_NEAR(student_probability(student_quantile(p, degrees), degrees), p, 1e-12);
      EXPECT_NEAR(student_quantile(p, degrees), -student_quantile(1 - p, degrees), 1e-9);
    }
  }
}

// The distribution function by adding up its density, as a second writing.
TEST(StudentProbability, IsTheIntegralOfTheDensity) {
  for (const double degrees : {1.0, 3.0, 8.0, 40.0}) {
    const double scale =
        std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2)) / std::sqrt(degrees * M_PI);
    const double end = 1.7, step = end / 2000;
    double sum = 0;
    for (int i = 0; i < 2000; ++i)
      sum += std::pow(1 + std::pow((i + 0.5) * step, 2) / degrees, -(degrees + 1) / 2) * step;
    EXPECT_NEAR(student_probability(end, degrees), 0.5 + scale * sum, 1e-7);
    EXPECT_NEAR(student_probability(-end, degrees), 0.5 - scale * sum, 1e-7);
  }
}

TEST(Interval, OfFiveValuesByHand) {
  // Mean 3, squares 4 + 1 + 0 + 1 + 4 = 10, variance 10 / 4; half width 2.7764451 * sqrt(2.5 / 5).
  const Interval interval = interval_of(std::vector<double>{1, 2, 3, 4, 5});
  EXPECT_EQ(interval.count, 5U);
  EXPECT_DOUBLE_EQ(interval.mean, 3);
  EXPECT_NEAR(*interval.deviation, std::sqrt(2.5), 1e-12);
  EXPECT_NEAR(*interval.low, 3 - 2.7764451 * std::sqrt(0.5), 1e-7);
  EXPECT_NEAR(*interval.high, 3 + 2.7764451 * std::sqrt(0.5), 1e-7);
  const Interval wider = interval_of(std::vector<double>{1, 2, 3, 4, 5}, 0.99);
  EXPECT_NEAR(*wider.high, 3 + 4.6040949 * std::sqrt(0.5), 1e-7);
}

TEST(Interval, OfOneValueHasNoWidthToTell) {
  const Interval interval = interval_of(std::vector<double>{0.7});
  EXPECT_DOUBLE_EQ(interval.mean, 0.7);
  EXPECT_FALSE(interval.deviation || interval.low || interval.high);
}

TEST(Interval, OfPairsIgnoresWhatTheyShare) {
  const std::vector<double> a{0.5, 0.9, 0.1}, b{0.4, 0.8, 0.0};
  const Interval difference = paired_difference(a, b);
  EXPECT_NEAR(difference.mean, 0.1, 1e-12);
  EXPECT_NEAR(*difference.low, 0.1, 1e-12);
  EXPECT_GT(*interval_of(a).high - *interval_of(a).low, 1);
}

}  // namespace
}  // namespace assay::retraining
