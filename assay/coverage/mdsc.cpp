// Mahalanobis-distance surprise coverage.

#include "assay/coverage/catalogue.h"
#include "assay/coverage/surprise_criterion.h"
#include "assay/surprise/mdsa.h"

namespace assay {
namespace {

class MahalanobisSurpriseCoverage final : public SurpriseCriterion {
 public:
  explicit MahalanobisSurpriseCoverage(const CriterionSetup& setup) : SurpriseCriterion(setup), options_{setup.options.number("variance", 0), 0} {}

 protected:
  std::vector<double> score(const LayerTraces& training, const Traces& test) const override {
    const std::vector<std::int32_t> classes = training_classes(training);
    const auto reference = training.derived<MdsaReference>(spec(), [&] {
      return std::make_shared<const MdsaReference>(Traces{training.values, training.dimensions, classes}, options_);
    });
    std::vector<double> values;
    for (const SurpriseScore& score : reference->score(test)) values.push_back(score.value);
    return values;
  }

 private:
  GaussianOptions options_;
};

}  // namespace

CriterionInfo mdsc_criterion() {
  std::vector<SpecOption> options = surprise_options("100");
  options.push_back({"variance", "1e-5", "neurons whose variance within a class is smaller are left out"});
  return {.name = "mdsc",
          .summary = "Mahalanobis-distance surprise coverage: distance to the mean of the class's training traces under their covariance",
          .definition = "MDSA = sqrt((x - mean)^T C^-1 (x - mean)), mean and covariance C of the training traces of the record's class; buckets of (lower, upper] "
                        "that hold the MDSA of at least one record, divided by all buckets",
          .limits = "takes each class for one Gaussian",
          .paper = "Kim et al., Reducing DNN Labelling Cost using Surprise Adequacy, FSE 2020",
          .options = std::move(options),
          .needs = CriterionInfo::Needs::traces,
          .all_layers = false,
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> { return std::make_unique<MahalanobisSurpriseCoverage>(setup); }};
}

}  // namespace assay
