// Differences of a unit's means with and without the hypothesis: as they are, and in standard deviations.

#include <algorithm>
#include <cmath>

#include "assay/inspection/statistics/intervals.h"
#include "assay/support/numbers/distributions.h"

namespace assay::inspection {
namespace {

constexpr double difference_tolerance = 0.05;  // in pooled standard deviations
const std::vector<BehaviourKind> difference_kinds{BehaviourKind::binary};

class DifferenceState final : public MomentState {
 public:
  DifferenceState(const MeasureSetup& setup, bool standardised)
      : MomentState(setup, difference_kinds, difference_tolerance, true),
        standardised_(standardised),
        means_(units()) {}

  void calibrate(const Block& block) override {
    for (std::size_t r = 0; r < block.rows; ++r) {
      for (std::size_t u = 0; u < units(); ++u)
        means_[u] += (block.units[r * units() + u] - means_[u]) / static_cast<double>(r + 1);
    }
  }

 private:
  void transform_units(const float* in, std::size_t rows, double* out) const override {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t u = 0; u < units(); ++u) out[r * units() + u] = in[r * units() + u] - means_[u];
    }
  }
  double transform_behaviour(std::size_t /*hypothesis*/, float value) const override {
    return value > 0.5F ? 1 : 0;
  }
  std::vector<double> calibration() const override { return means_; }
  void set_calibration(const std::vector<double>& values) override { means_ = values; }

  Score score(std::size_t unit, std::size_t hypothesis) const override {
    const PairSums s = sums(unit, hypothesis);
    Score score = two_class_score(s, means_[unit], 0);
    if (!score.status.empty()) return score;
    const double n1 = s.y, n0 = s.n - s.y, mean1 = s.xy / n1, mean0 = (s.x - s.xy) / n0,
                 squares1 = spread(s.xxy, n1, mean1), squares0 = spread(s.xx - s.xxy, n0, mean0),
                 pooled = std::sqrt((squares0 + squares1) / (s.n - 2)), difference = mean1 - mean0;
    if (standardised_) {
      if (pooled == 0) {
        score.status = "separated";
        score.value = std::copysign(std::numeric_limits<double>::max(), difference);
        return score;
      }
      score.value = difference / pooled;
      const double error = std::sqrt(s.n / (n0 * n1) + score.value * score.value / (2 * s.n));
      finish(score, error, score.value / std::sqrt(s.n / (n0 * n1)), 1);
    } else {
      score.value = difference;
      const double error = std::sqrt(squares1 / (n1 - 1) / n1 + squares0 / (n0 - 1) / n0);
      finish(score, error, difference / error, pooled);
    }
    return score;
  }
  // Squared deviations; those that are rounding alone are none.
  static double spread(double squares, double n, double mean) {
    const double deviations = squares - n * mean * mean;
    return is_constant(deviations, n, mean) ? 0 : deviations;
  }
  void finish(Score& score, double error, double test, double scale) const {
    score.low = score.value - z() * error;
    score.high = score.value + z() * error;
    score.p = normal_two_sided(test);
    score.converged = narrow((score.high - score.low) / scale) || error == 0;
  }

  bool standardised_;
  std::vector<double> means_;  // of units on the calibration records, against cancellation
};

const char* const difference_limits =
    "tells means apart and nothing else: a unit that fires rarely, but only for the hypothesis, differs "
    "little. Interval and p take rows to be independent; rows of one record are not: resample records for "
    "honest ones";

}  // namespace

MeasureInfo mean_difference_measure() {
  return {.name = "mean_difference",
          .summary =
              "difference between a unit's mean where the hypothesis holds and where it does not, in the "
              "unit's scale",
          .definition =
              "mean(u where h = 1) - mean(u where h = 0). Interval: difference -+ z sqrt(s1^2 / n1 + s0^2 / "
              "n0), with the variance of each class by itself (Welch's error, normal quantiles). p, "
              "two-sided, of no difference: normal, from the same error. Converged when the interval is at "
              "most twice the tolerance (default 0.05) wide, in pooled standard deviations",
          .limits = difference_limits,
          .paper = "Sellam et al., DeepBase, SIGMOD 2019; Welch 1947",
          .options = {},
          .kinds = difference_kinds,
          .neutral = 0,
          .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
            return std::make_unique<DifferenceState>(setup, false);
          }};
}

MeasureInfo cohen_d_measure() {
  return {.name = "cohen_d",
          .summary =
              "difference between a unit's mean where the hypothesis holds and where it does not, in "
              "standard deviations",
          .definition =
              "(mean(u where h = 1) - mean(u where h = 0)) / s, with the pooled s^2 = ((n1 - 1) s1^2 + (n0 - "
              "1) s0^2) / (n1 + n0 - 2). Interval: d -+ z sqrt((n1 + n0) / (n1 n0) + d^2 / (2 (n1 + n0))). "
              "p, two-sided, of d = 0: normal, with z = d / sqrt((n1 + n0) / (n1 n0)). Converged when the "
              "interval is at most twice the tolerance (default 0.05) wide. Status `separated`: no "
              "spread within the classes, d is the largest number there is",
          .limits = difference_limits,
          .paper = "Cohen 1988; Hedges and Olkin 1985",
          .options = {},
          .kinds = difference_kinds,
          .neutral = 0,
          .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
            return std::make_unique<DifferenceState>(setup, true);
          }};
}

}  // namespace assay::inspection
