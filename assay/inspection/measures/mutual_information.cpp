// Mutual information of a unit's bins and a hypothesis's classes.

#include <algorithm>
#include <cmath>

#include "assay/inspection/statistics/histogram.h"
#include "assay/support/numbers/distributions.h"

namespace assay::inspection {
namespace {

constexpr double information_tolerance = 0.01;  // nats
const std::vector<BehaviourKind> information_kinds{BehaviourKind::binary, BehaviourKind::categorical,
                                                   BehaviourKind::numeric};

class MutualInformation final : public HistogramState {
 public:
  explicit MutualInformation(const MeasureSetup& setup)
      : HistogramState(setup, information_kinds, information_tolerance, setup.options.count("bins", 2),
                       setup.options.count("bins", 2)),
        corrected_(setup.options.word("correction", std::vector<std::string>{"none", "miller-madow"}) !=
                   "none") {}

 private:
  Score score(std::size_t unit, std::size_t hypothesis) const override {
    const Table t = table(unit, hypothesis);
    Score score = begun(unit, t, 0);
    if (!score.status.empty()) return score;
    double information = 0, second = 0;  // mean and mean square of log p(a, b) / (p(a) p(b))
    for (std::size_t b = 0; b < t.bins.size(); ++b) {
      for (std::size_t c = 0; c < t.classes; ++c) {
        const double count = t.counts[b * t.classes + c];
        if (count == 0) continue;
        const double log = std::log(count * t.rows / (t.bins[b] * t.totals[c]));
        information += count / t.rows * log;
        second += count / t.rows * log * log;
      }
    }
    information = std::max(0.0, information);
    const auto occupied = [](const std::vector<double>& sums) {
      return static_cast<double>(std::ranges::count_if(sums, [](double sum) { return sum > 0; }));
    };
    const double degrees = (occupied(t.bins) - 1) * (occupied(t.totals) - 1), bias = degrees / (2 * t.rows),
                 half = z() * std::sqrt(std::max(0.0, second - information * information) / t.rows);
    score.value = corrected_ ? std::max(0.0, information - bias) : information;
    score.low = std::max(0.0, information - bias - half);
    score.high = information + half;
    score.p = degrees > 0 ? chi_squared_tail(2 * t.rows * information, degrees) : 1;
    score.converged = narrow(score.high - score.low);
    return score;
  }

  bool corrected_;
};

}  // namespace

MeasureInfo mutual_information_measure() {
  return {
      .name = "mutual_information",
      .summary = "what a unit's activation tells of the hypothesis, in nats, from 0",
      .definition =
          "sum over bins a and classes b of p(a, b) log(p(a, b) / (p(a) p(b))), natural logarithm, with p "
          "from "
          "counts. Activations are binned at the quantiles of the calibration records (`bins` bins with "
          "equally "
          "many, equal edges merged), numeric hypotheses likewise; edges stay as they are. Interval: the "
          "value "
          "-+ z sd(log(p(a, b) / (p(a) p(b)))) / sqrt(n) (the delta method), its lower end moved down by the "
          "bias (R - 1)(C - 1) / (2n), R and C the occupied bins and classes. p, of independence: G = 2 n MI "
          "against chi-squared with (R - 1)(C - 1) degrees. Converged when the interval is at most twice the "
          "tolerance (default 0.01 nats) wide",
      .limits =
          "no sign: a unit that is silent where the hypothesis holds scores as one that fires. The estimate "
          "is "
          "too high by about the bias unless it is corrected; values depend on the bins, so compare those of "
          "equal bins only. Rows of one record are not independent",
      .paper = "Shannon 1948; Miller 1955; Sellam et al., DeepBase, SIGMOD 2019",
      .options = {{"bins", "10", "bins of activations, and of numeric hypotheses; at most 256"},
                  {"correction", "none", "none, or miller-madow: the bias is subtracted, not below 0"}},
      .aliases = {"mi"},
      .kinds = information_kinds,
      .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
        return std::make_unique<MutualInformation>(setup);
      }};
}

}  // namespace assay::inspection
