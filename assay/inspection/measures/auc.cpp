// Area under the ROC curve of a unit as a detector of a hypothesis.

#include <cmath>

#include "assay/inspection/statistics/histogram.h"
#include "assay/support/numbers/distributions.h"

namespace assay::inspection {
namespace {

constexpr double auc_tolerance = 0.025;
const std::vector<BehaviourKind> auc_kinds{BehaviourKind::binary};

class Auc final : public HistogramState {
 public:
  explicit Auc(const MeasureSetup& setup)
      : HistogramState(setup, auc_kinds, auc_tolerance, setup.options.count("bins", 2), 2) {}

 private:
  Score score(std::size_t unit, std::size_t hypothesis) const override {
    const Table t = table(unit, hypothesis);
    Score score = begun(unit, t, 0.5);
    if (!score.status.empty()) return score;
    const double n0 = t.totals[0], n1 = t.totals[1], rarer = std::min(n0, n1);
    if (rarer < 2) {
      score.status = "too_few_rows";
      return score;
    }
    double below = 0, won = 0, ties = 0;  // rows without h below; pairs won by h; sum of t^3 - t
    for (std::size_t b = 0; b < t.bins.size(); ++b) {
      won += t.counts[2 * b + 1] * (below + t.counts[2 * b] / 2);
      below += t.counts[2 * b];
      ties += t.bins[b] * (t.bins[b] * t.bins[b] - 1);
    }
    const double area = won / (n0 * n1), one = area / (2 - area), two = 2 * area * area / (1 + area),
                 variance =
                     (area * (1 - area) + (n1 - 1) * (one - area * area) + (n0 - 1) * (two - area * area)) /
                     (n0 * n1),
                 half = z() * std::sqrt(std::max(0.0, variance));
    score.value = area;
    // At 0 and 1 that error is 0: the bound of as many draws as the rarer kind has rows, all alike.
    const double alike = std::pow(normal_two_sided(z()) / 2, 1 / rarer);
    score.low = area < 1 ? std::max(0.0, area - half) : alike;
    score.high = area > 0 ? std::min(1.0, area + half) : 1 - alike;
    const double n = t.rows, chance = std::sqrt((n + 1 - ties / (n * (n - 1))) / (12 * n0 * n1));
    score.p = chance > 0 ? normal_two_sided((area - 0.5) / chance) : 1;
    score.converged = narrow(score.high - score.low);
    return score;
  }
};

}  // namespace

MeasureInfo auc_measure() {
  return {
      .name = "auc",
      .summary = "how surely a unit is higher where the hypothesis holds: area under the ROC curve, 0 to 1",
      .definition =
          "P(u1 > u0) + P(u1 = u0) / 2 for rows u1 where h = 1 and u0 where h = 0; 0.5 is chance, 0 a "
          "perfect "
          "detector of the opposite. Activations in the same of `bins` bins, cut at quantiles of the "
          "calibration records, count as equal: the exact value is apart by at most half the share of pairs "
          "in "
          "one bin, 1 / (2 bins) for a unit that tells nothing, and exact where a unit has no more values "
          "than "
          "bins. Interval: Hanley and McNeil's error, normal quantiles; where it is 0, at 0 and 1, "
          "Clopper and Pearson's bound of the rows of the rarer kind. p, two-sided, of 0.5: the "
          "Mann-Whitney test with ties, normal. Converged when the interval is at most twice the tolerance "
          "(default 0.025) wide",
      .limits =
          "only the order of activations counts. Memory grows with the bins. Rows of one record are not "
          "independent",
      .paper = "Hanley and McNeil 1982; Mann and Whitney 1947",
      .options = {{"bins", "64", "bins of activations; at most 256"}},
      .kinds = auc_kinds,
      .neutral = 0.5,
      .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
        return std::make_unique<Auc>(setup);
      }};
}

}  // namespace assay::inspection
