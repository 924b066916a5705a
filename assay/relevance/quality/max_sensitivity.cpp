// How much an explanation moves when the record hardly does.

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/extend/random.h>
#include <assay/faithfulness.h>

namespace assay::relevance {
namespace {

class MaxSensitivity final : public Quality {
 public:
  explicit MaxSensitivity(const SpecOptions& options)
      : radius_(options.number("radius", 0)),
        samples_(options.count("samples", 1)),
        seed_(options.count("seed", 0)) {}

  QualityValues of(const ExplainedBatch& batch) const override {
    const ExplainedBatch::Rows& here = batch.relevance();
    QualityValues found{.values = std::vector<double>(here.size()), .shares = {}, .curves = {}};
    for (std::size_t sample = 0; sample < samples_; ++sample) {
      Rng random(seed_, {sample});
      std::vector<float> change(batch.elements());
      for (float& one : change) one = static_cast<float>(random.uniform(-radius_, radius_));
      const ExplainedBatch::Rows there = batch.relevance_moved(change);
      for (std::size_t r = 0; r < here.size(); ++r)
        found.values[r] = std::max(found.values[r], distance(here[r], there[r]));
    }
    for (std::size_t r = 0; r < here.size(); ++r) {
      const double length = distance(here[r], std::vector<double>(here[r].size()));
      found.values[r] = length > 0 ? found.values[r] / length : std::numeric_limits<double>::quiet_NaN();
    }
    return found;
  }

 private:
  static double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(squares);
  }

  double radius_;
  std::size_t samples_;
  std::uint64_t seed_;
};

}  // namespace

QualityInfo max_sensitivity_quality() {
  return {
      .name = "max-sensitivity",
      .summary = "greatest change of an explanation among near records; less is better",
      .definition =
          "Greatest Euclidean distance from the explanation of the record to that of a near one, over the "
          "length of the former; for the class of the record. Near ones are drawn evenly within `radius`, a "
          "share of the record's greatest less smallest element.",
      .paper = "Yeh et al., On the (In)fidelity and Sensitivity of Explanations, NeurIPS 2019",
      .higher_is_better = false,
      .options = {{"radius", "0.02", "greatest change of an element, as a share of the record's spread"},
                  {"samples", "10", "near records"},
                  {"seed", "1", "of the near records"}},
      .make = [](const SpecOptions& options) { return std::make_unique<MaxSensitivity>(options); }};
}

}  // namespace assay::relevance
