// Jaccard's index of a unit's highest activations and a hypothesis: the IoU of Network Dissection.

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/inspection/statistics/intervals.h"
#include "assay/inspection/statistics/quantiles.h"

namespace assay::inspection {
namespace {

constexpr double jaccard_tolerance = 0.025;
const std::vector<BehaviourKind> jaccard_kinds{BehaviourKind::binary};

class Jaccard final : public MomentState {
 public:
  explicit Jaccard(const MeasureSetup& setup)
      : MomentState(setup, jaccard_kinds, jaccard_tolerance),
        quantile_(setup.options.number("quantile", 0)),
        thresholds_(units(), 0) {}

  void calibrate(const Block& block) override {
    const std::vector<std::vector<float>> values =
        sorted_columns(block.raw_units.empty() ? block.units : block.raw_units, units());
    for (std::size_t u = 0; u < units(); ++u) {
      if (values[u].empty()) continue;
      const auto above = static_cast<std::size_t>(
          std::min(quantile_ * values[u].size() + 1e-9, static_cast<double>(values[u].size() - 1)));
      thresholds_[u] = values[u][values[u].size() - 1 - above];
    }
  }

 private:
  void transform_units(const float* in, std::size_t rows, double* out) const override {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t u = 0; u < units(); ++u)
        out[r * units() + u] = in[r * units() + u] > thresholds_[u] ? 1 : 0;
    }
  }
  double transform_behaviour(std::size_t /*hypothesis*/, float value) const override {
    return value > 0.5F ? 1 : 0;
  }
  std::vector<double> calibration() const override { return {thresholds_.begin(), thresholds_.end()}; }
  void set_calibration(const std::vector<double>& values) override {
    for (std::size_t u = 0; u < units(); ++u) thresholds_[u] = static_cast<float>(values.at(u));
  }

  Score score(std::size_t unit, std::size_t hypothesis) const override {
    const PairSums s = sums(unit, hypothesis);
    Score score;
    score.rows = static_cast<std::uint64_t>(s.n);
    if (s.n < 1) {
      score.status = "too_few_rows";
    } else if (s.y == 0 || s.y == s.n) {
      score.status = "constant_hypothesis";
    } else if (s.x == 0) {
      score.value = 0;
      score.status = "constant_unit";
    } else {
      const double united = s.x + s.y - s.xy;
      score.value = s.xy / united;
      const Range range = wilson(score.value, united, z());
      score.low = range.low;
      score.high = range.high;
      score.converged = narrow(range.high - range.low);
    }
    return score;
  }

  double quantile_;
  std::vector<float> thresholds_;
};

}  // namespace

MeasureInfo jaccard_measure() {
  return {
      .name = "jaccard",
      .summary = "overlap (IoU) of a unit's highest activations with the hypothesis, 0 to 1",
      .definition =
          "rows with A and h = 1 / rows with A or h = 1, where A says that the activation is above T, and T "
          "is "
          "such that a share `quantile` of calibration activations is above it (strictly; taken before maps "
          "are up-sampled). Rows where the hypothesis is a don't-care count nowhere: with NaN in images that "
          "have no labels of its category, this is Network Dissection's IoU. Interval: Wilson's, over the "
          "rows "
          "of the union. Converged when it is at most twice the tolerance (default 0.025) wide. Status "
          "`constant_unit`, value 0: never above T. Network Dissection calls a unit a detector from 0.04 on",
      .limits =
          "depends on the threshold; rare hypotheses cannot reach 1 where they are rarer than the "
          "quantile. Rows of one record are not independent. p: by permutation only",
      .paper = "Bau et al., Network Dissection, CVPR 2017; Jaccard 1912; Wilson 1927",
      .options = {{"quantile", "0.005", "share of activations that are above the threshold"}},
      .aliases = {"iou"},
      .kinds = jaccard_kinds,
      .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
        return std::make_unique<Jaccard>(setup);
      }};
}

}  // namespace assay::inspection
