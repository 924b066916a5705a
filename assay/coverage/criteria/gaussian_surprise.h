#pragma once

// Surprise coverage by a reference that takes the training traces of a class for samples of Gaussians (LSA,
// MDSA).

#include <map>
#include <memory>
#include <vector>

#include "assay/coverage/criteria/surprise_criterion.h"
#include "assay/surprise/mdsa.h"

namespace assay::coverage {

// `Reference`: made from traces and GaussianOptions; score(traces) gives a SurpriseScore per record. Made at
// once, so that unsuitable traces are found before anything is measured.
template <typename Reference>
class GaussianSurpriseCoverage final : public SurpriseCriterion {
 public:
  GaussianSurpriseCoverage(const CriterionSetup& setup, const surprise::GaussianOptions& options)
      : SurpriseCriterion(setup), options_(options) {
    for (const auto& training : traces()) {
      if (training) reference(*training);
    }
  }

 protected:
  std::vector<double> score(const LayerTraces& training, const surprise::Traces& test) const override {
    std::vector<double> values;
    for (const surprise::SurpriseScore& score : reference(training)->score(test))
      values.push_back(score.value);
    return values;
  }

  std::map<std::int32_t, double> regularised(const LayerTraces& training) const override {
    std::map<std::int32_t, double> added;
    for (const auto& [of_class, gaussian] : reference(training)->gaussians().classes)
      if (gaussian.jitter > 0) added.emplace(of_class, gaussian.jitter);
    return added;
  }

 private:
  std::shared_ptr<const Reference> reference(const LayerTraces& training) const {
    return training.derived<Reference>(spec(), [&] {
      const std::vector<std::int32_t> classes = training_classes(training);
      return std::make_shared<const Reference>(
          surprise::Traces{training.values, training.dimensions, classes}, options_);
    });
  }

  surprise::GaussianOptions options_;
};

// The option that both have.
inline SpecOption least_variance() {
  return {"variance", "1e-5", "neurons whose variance within a class is smaller are left out"};
}

}  // namespace assay::coverage
