// Likelihood-based surprise coverage (Kim et al., ICSE 2019).

#include "assay/coverage/catalogue.h"
#include "assay/coverage/surprise_criterion.h"
#include "assay/surprise/lsa.h"

namespace assay {
namespace {

class LikelihoodSurpriseCoverage final : public SurpriseCriterion {
 public:
  explicit LikelihoodSurpriseCoverage(const CriterionSetup& setup)
      : SurpriseCriterion(setup), options_{setup.options.number("variance", 0), setup.options.count("dimensions", 0)} {}

 protected:
  std::vector<double> score(const LayerTraces& training, const Traces& test) const override {
    const std::vector<std::int32_t> classes = training_classes(training);
    const auto reference = training.derived<LsaReference>(spec(), [&] {
      return std::make_shared<const LsaReference>(Traces{training.values, training.dimensions, classes}, options_);
    });
    std::vector<double> values;
    for (const SurpriseScore& score : reference->score(test)) values.push_back(score.value);
    return values;
  }

 private:
  GaussianOptions options_;
};

}  // namespace

CriterionInfo lsc_criterion() {
  std::vector<SpecOption> options = surprise_options("2000");
  options.push_back({"variance", "1e-5", "neurons whose variance within a class is smaller are left out"});
  options.push_back({"dimensions", "0", "keep so many neurons of highest variance; 0: all"});
  return {.name = "lsc",
          .summary = "likelihood-based surprise coverage: how unlikely records are under a density estimate of their class's traces",
          .definition = "LSA = -log of a Gaussian kernel density estimate over the training traces of the record's class, bandwidth by Scott's rule; buckets of "
                        "(lower, upper] that hold the LSA of at least one record, divided by all buckets",
          .limits = "depends on the upper bound and on which neurons are left out; a density in many dimensions is hardly an estimate",
          .paper = "Kim, Feldt and Yoo, Guiding Deep Learning System Testing Using Surprise Adequacy, ICSE 2019",
          .options = std::move(options),
          .needs = CriterionInfo::Needs::traces,
          .all_layers = false,
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> { return std::make_unique<LikelihoodSurpriseCoverage>(setup); }};
}

}  // namespace assay
