// Pearson's correlation of every unit with every hypothesis.

#include <cmath>

#include "assay/inspection/statistics/intervals.h"
#include "assay/support/numbers/distributions.h"

namespace assay::inspection {
namespace {

constexpr double pearson_tolerance = 0.025;
const std::vector<BehaviourKind> pearson_kinds{BehaviourKind::binary, BehaviourKind::numeric};

// Sums are of differences from the means of the calibration records, against cancellation.
class Pearson final : public MomentState {
 public:
  explicit Pearson(const MeasureSetup& setup)
      : MomentState(setup, pearson_kinds, pearson_tolerance), means_(units() + hypotheses()) {}

  void calibrate(const Block& block) override {
    std::vector<double> counts(means_.size());
    for (std::size_t r = 0; r < block.rows; ++r) {
      for (std::size_t i = 0; i < means_.size(); ++i) {
        const double value =
            i < units() ? block.units[r * units() + i] : block.behaviours[r * hypotheses() + i - units()];
        if (std::isnan(value)) continue;
        means_[i] += (value - means_[i]) / ++counts[i];
      }
    }
  }

 private:
  void transform_units(const float* in, std::size_t rows, double* out) const override {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t u = 0; u < units(); ++u) out[r * units() + u] = in[r * units() + u] - means_[u];
    }
  }
  double transform_behaviour(std::size_t hypothesis, float value) const override {
    return value - means_[units() + hypothesis];
  }
  std::vector<double> calibration() const override { return means_; }
  void set_calibration(const std::vector<double>& values) override { means_ = values; }

  Score score(std::size_t unit, std::size_t hypothesis) const override {
    const PairSums s = sums(unit, hypothesis);
    Score score = correlation(s, means_[unit], means_[units() + hypothesis]);
    if (!score.status.empty()) return score;
    const double error = 1 / std::sqrt(s.n - 3);
    const Range range = fisher(score.value, error, z());
    score.low = range.low;
    score.high = range.high;
    score.p = normal_two_sided(std::atanh(score.value) / error);
    score.converged = narrow(range.high - range.low);
    return score;
  }

  std::vector<double> means_;  // of units, then of hypotheses
};

}  // namespace

MeasureInfo pearson_measure() {
  return {
      .name = "pearson",
      .summary = "Pearson's correlation of unit and hypothesis, -1 to 1",
      .definition =
          "r = sum (u - mean u)(h - mean h) / sqrt(sum (u - mean u)^2 sum (h - mean h)^2) over all rows "
          "where the hypothesis is not a don't-care. Interval: tanh(atanh r -+ z / sqrt(n - 3)) (Fisher). "
          "p, two-sided, of r = 0: normal, with z = atanh(r) sqrt(n - 3). A pair has converged when its "
          "interval is at most twice the tolerance wide (default 0.025) on 100 rows or more",
      .limits =
          "linear affinity only. Interval and p take rows to be independent; rows of one record are not: "
          "resample records for honest ones",
      .paper = "Sellam et al., DeepBase, SIGMOD 2019; Fisher 1921",
      .options = {},
      .aliases = {"corr"},
      .kinds = pearson_kinds,
      .neutral = 0,
      .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
        return std::make_unique<Pearson>(setup);
      }};
}

}  // namespace assay::inspection
