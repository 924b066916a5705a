// How far relevance is from what the score really loses.

#include "assay/relevance/quality/subsets.h"

namespace assay::relevance {
namespace {

// With relevance in the unit that fits best.
double best_squared_error(const std::vector<double>& relevance, const std::vector<double>& loss) {
  double products = 0, squares = 0, error = 0;
  for (std::size_t i = 0; i < loss.size(); ++i) {
    products += relevance[i] * loss[i];
    squares += relevance[i] * relevance[i];
  }
  const double unit = squares > 0 ? products / squares : 0;
  for (std::size_t i = 0; i < loss.size(); ++i) {
    const double off = unit * relevance[i] - loss[i];
    error += off * off;
  }
  return error / loss.size();
}

}  // namespace

QualityInfo infidelity_quality() {
  return {
      .name = "infidelity",
      .summary = "squared error of relevance against what the score loses; less is better",
      .definition =
          "Mean over random subsets of positions of (b * relevance of the subset - loss of the score when it "
          "is replaced by the baseline)^2, with the b that makes it least, so that methods of any unit "
          "compare.",
      .paper = "Yeh et al., On the (In)fidelity and Sensitivity of Explanations, NeurIPS 2019",
      .higher_is_better = false,
      .options = SubsetOptions::declared(),
      .make = [](const SpecOptions& options) {
        return std::make_unique<SubsetQuality>(options, best_squared_error);
      }};
}

}  // namespace assay::relevance
