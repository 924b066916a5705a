// Spearman's rank correlation, with ranks among the calibration records.

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "assay/inspection/statistics/intervals.h"
#include "assay/inspection/statistics/quantiles.h"
#include "assay/support/numbers/distributions.h"

namespace assay::inspection {
namespace {

constexpr double spearman_tolerance = 0.025;
const std::vector<BehaviourKind> spearman_kinds{BehaviourKind::binary, BehaviourKind::numeric};

// Distinct values, ascending, and the share of calibration values below each; at the end 1.
struct Grades {
  std::vector<float> values;
  std::vector<double> below;

  explicit Grades(const std::vector<float>& ascending = {}) {
    for (std::size_t i = 0; i < ascending.size(); ++i) {
      if (i > 0 && ascending[i] == ascending[i - 1]) continue;
      values.push_back(ascending[i]);
      below.push_back(static_cast<double>(i) / ascending.size());
    }
    below.push_back(1);
  }
  // Centred, so that sums do not cancel.
  double grade(float value) const {
    const std::size_t place = std::ranges::lower_bound(values, value) - values.begin();
    const bool known = place < values.size() && values[place] == value;
    return (known ? (below[place] + below[place + 1]) / 2 : below[place]) - 0.5;
  }
};

// Pearson's correlation of grades: the share of calibration values below a value, and half of those that
// equal it.
class Spearman final : public MomentState {
 public:
  explicit Spearman(const MeasureSetup& setup)
      : MomentState(setup, spearman_kinds, spearman_tolerance),
        most_(setup.options.count("values", 2)),
        known_(units() + hypotheses()) {}

  void calibrate(const Block& block) override {
    known_.clear();
    for (const std::vector<float>& values : sorted_columns(block.units, units()))
      known_.emplace_back(thinned(values, most_));
    for (const std::vector<float>& values : sorted_columns(block.behaviours, hypotheses()))
      known_.emplace_back(thinned(values, most_));
  }

 private:
  void transform_units(const float* in, std::size_t rows, double* out) const override {
    // Unit by unit, so that its grades stay in cache.
    for (std::size_t u = 0; u < units(); ++u) {
      for (std::size_t r = 0; r < rows; ++r) out[r * units() + u] = known_[u].grade(in[r * units() + u]);
    }
  }
  double transform_behaviour(std::size_t hypothesis, float value) const override {
    // Ranks of two values are a linear map of the values.
    return kind(hypothesis) == BehaviourKind::binary ? value - 0.5
                                                     : known_[units() + hypothesis].grade(value);
  }
  std::vector<double> calibration() const override {
    std::vector<double> flat;
    for (const Grades& grades : known_) {
      flat.push_back(grades.values.size());
      flat.insert(flat.end(), grades.values.begin(), grades.values.end());
      flat.insert(flat.end(), grades.below.begin(), grades.below.end());
    }
    return flat;
  }
  void set_calibration(const std::vector<double>& flat) override {
    std::size_t next = 0;
    for (Grades& grades : known_) {
      const double size = flat.at(next++);
      if (!(size >= 0 && size <= static_cast<double>(flat.size() - next)))
        throw std::runtime_error("its grades are damaged");
      grades.values.resize(static_cast<std::size_t>(size));
      grades.below.resize(grades.values.size() + 1);
      for (float& value : grades.values) value = static_cast<float>(flat.at(next++));
      for (double& share : grades.below) share = flat.at(next++);
    }
  }

  Score score(std::size_t unit, std::size_t hypothesis) const override {
    const PairSums s = sums(unit, hypothesis);
    Score score = correlation(s, 0, 0);
    if (!score.status.empty()) return score;
    const Range range = fisher(score.value, std::sqrt((1 + score.value * score.value / 2) / (s.n - 3)), z());
    score.low = range.low;
    score.high = range.high;
    score.p = normal_two_sided(std::atanh(score.value) * std::sqrt((s.n - 3) / 1.06));
    score.converged = narrow(range.high - range.low);
    return score;
  }

  std::size_t most_;
  std::vector<Grades> known_;  // of each unit, then of each hypothesis
};

}  // namespace

MeasureInfo spearman_measure() {
  return {
      .name = "spearman",
      .summary = "Spearman's rank correlation of unit and hypothesis, -1 to 1",
      .definition =
          "Pearson's r of grades. The grade of a value is the share of calibration values below it and half "
          "of "
          "those that equal it, so that memory stays bounded: with all records as calibration records, none "
          "with rows that do not count, and no more than `values` rows, r is Spearman's rho exactly; with "
          "fewer, a grade is off by 1.36 / "
          "sqrt(m) "
          "at most in 95 of 100 cases (m: calibration values; Massart 1990). Interval: tanh(atanh r -+ z "
          "sqrt((1 + r^2 / 2) / (n - 3))) (Bonett and Wright). p, two-sided, of rho = 0: normal, with z = "
          "atanh(r) sqrt((n - 3) / 1.06) (Fieller). Converged: as pearson, tolerance 0.025",
      .limits =
          "monotone affinity only; an approximation where data sets are greater than the calibration "
          "records. Rows of one record are not independent: resample records for honest intervals",
      .paper = "Spearman 1904; Bonett and Wright 2000; Fieller, Hartley and Pearson 1957",
      .options = {{"values", "2048", "calibration values kept of each unit and hypothesis"}},
      .kinds = spearman_kinds,
      .neutral = 0,
      .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
        return std::make_unique<Spearman>(setup);
      }};
}

}  // namespace assay::inspection
