#pragma once

// Surprise coverage by a reference that takes the training traces of a class for samples of Gaussians (LSA,
// MDSA).

#include <memory>
#include <vector>

#include "assay/coverage/criteria/surprise_criterion.h"
#include "assay/surprise/mdsa.h"

namespace assay::coverage {

// `Reference`: made from traces and GaussianOptions; score(traces) gives a SurpriseScore per record.
template <typename Reference>
class GaussianSurpriseCoverage final : public SurpriseCriterion {
 public:
  GaussianSurpriseCoverage(const CriterionSetup& setup, const surprise::GaussianOptions& options)
      : SurpriseCriterion(setup), options_(options) {}

 protected:
  std::vector<double> score(const LayerTraces& training, const surprise::Traces& test) const override {
    const std::vector<std::int32_t> classes = training_classes(training);
    const auto reference = training.derived<Reference>(spec(), [&] {
      return std::make_shared<const Reference>(
          surprise::Traces{training.values, training.dimensions, classes}, options_);
    });
    std::vector<double> values;
    for (const surprise::SurpriseScore& score : reference->score(test)) values.push_back(score.value);
    return values;
  }

 private:
  surprise::GaussianOptions options_;
};

// The option that both have.
inline SpecOption least_variance() {
  return {"variance", "1e-5", "neurons whose variance within a class is smaller are left out"};
}

}  // namespace assay::coverage
