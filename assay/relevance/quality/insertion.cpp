// The probability of the class while its most relevant positions come.

#include "assay/relevance/quality/relevant_order.h"

namespace assay::relevance {
namespace {

class Insertion final : public Quality {
 public:
  explicit Insertion(const SpecOptions& options) : steps_(options.count("steps", 1)) {}
  QualityValues of(const ExplainedBatch& batch) const override {
    return curve_by_relevance(batch, steps_, true);
  }

 private:
  std::size_t steps_;
};

}  // namespace

QualityInfo insertion_quality() {
  return {.name = "insertion",
          .summary = "area under the probability of the class while relevant positions come; more is better",
          .definition =
              "Positions of the baseline are replaced by those of the record, the most relevant first. Area "
              "under the probability of the class over the share that is there, by trapezoids.",
          .paper = "Petsiuk et al., RISE, BMVC 2018",
          .higher_is_better = true,
          .options = {{"steps", "20", "points of the curve after the first"}},
          .make = [](const SpecOptions& options) { return std::make_unique<Insertion>(options); }};
}

}  // namespace assay::relevance
