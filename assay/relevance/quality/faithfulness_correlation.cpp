// Whether the score loses most where most relevance is taken away.

#include <cmath>
#include <limits>

#include "assay/relevance/quality/subsets.h"
#include "assay/support/numbers/mean.h"

namespace assay::relevance {
namespace {

double pearson(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double both = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    of_a += (a[i] - mean_a) * (a[i] - mean_a);
    of_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (of_a == 0 || of_b == 0) return std::numeric_limits<double>::quiet_NaN();
  return both / std::sqrt(of_a * of_b);
}

}  // namespace

QualityInfo faithfulness_correlation_quality() {
  return {
      .name = "faithfulness-correlation",
      .summary = "correlation of relevance with what the score loses; more is better",
      .definition =
          "Pearson's correlation, over random subsets of positions, of the relevance of the subset with the "
          "loss of the score when it is replaced by the baseline.",
      .paper = "Bhatt et al., Evaluating and Aggregating Feature-based Model Explanations, IJCAI 2020",
      .higher_is_better = true,
      .options = SubsetOptions::declared(),
      .make = [](const SpecOptions& options) { return std::make_unique<SubsetQuality>(options, pearson); }};
}

}  // namespace assay::relevance
