// The probability of the class while its most relevant positions go.

#include "assay/relevance/quality/relevant_order.h"

namespace assay::relevance {
namespace {

class Deletion final : public Quality {
 public:
  explicit Deletion(const SpecOptions& options) : steps_(options.count("steps", 1)) {}
  QualityValues of(const ExplainedBatch& batch) const override {
    return curve_by_relevance(batch, steps_, false);
  }

 private:
  std::size_t steps_;
};

}  // namespace

QualityInfo deletion_quality() {
  return {
      .name = "deletion",
      .summary = "area under the probability of the class while relevant positions go; less is better",
      .definition =
          "Positions are replaced by the baseline, the most relevant first. Area under the probability of "
          "the class over the share that is replaced, by trapezoids.",
      .paper = "Petsiuk et al., RISE, BMVC 2018; Samek et al., IEEE TNNLS 2017",
      .higher_is_better = false,
      .options = {{"steps", "20", "points of the curve after the first"}},
      .make = [](const SpecOptions& options) { return std::make_unique<Deletion>(options); }};
}

}  // namespace assay::relevance
