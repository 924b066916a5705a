// Distance-based surprise coverage (Kim et al., ICSE 2019).

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/surprise_criterion.h"
#include "assay/surprise/dsa.h"

namespace assay::coverage {
namespace {

class DistanceSurpriseCoverage final : public SurpriseCriterion {
 public:
  explicit DistanceSurpriseCoverage(const CriterionSetup& setup) : SurpriseCriterion(setup) {}

 protected:
  std::vector<double> score(const LayerTraces& training, const surprise::Traces& test) const override {
    if (training.predicted.empty() && training.labels.empty())
      fail(Fault::mismatch,
           "distance-based surprise (dsa, dsc) compares classes, and the network names none for a record; "
           "choose "
           "the one by likelihood (lsa, lsc){}",
           About{"", ", or look at the items of records ({items})"});
    const std::vector<std::int32_t> classes = training_classes(training);
    const auto reference = training.derived<surprise::DsaReference>(spec(), [&] {
      return std::make_shared<const surprise::DsaReference>(
          surprise::Traces{training.values, training.dimensions, classes});
    });
    std::vector<double> values;
    for (const surprise::DsaScore& score : reference->score(test)) values.push_back(score.dsa);
    return values;
  }
};

}  // namespace

CriterionInfo dsc_criterion() {
  return {
      .name = "dsc",
      .summary =
          "distance-based surprise coverage: distance to the own class's training traces, relative to the "
          "others'",
      .definition =
          "DSA = |x - a| / |a - b|, a the nearest training trace of the record's class, b the trace of "
          "another class nearest to a; buckets of "
          "(lower, upper] that hold the DSA of at least one record, divided by all buckets",
      .limits = "not defined for regression, nor with one class in training; depends on the upper bound",
      .paper = "Kim, Feldt and Yoo, Guiding Deep Learning System Testing Using Surprise Adequacy, ICSE 2019",
      .options = surprise_options("2"),
      .needs = CriterionInfo::Needs::traces,
      .all_layers = false,
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<DistanceSurpriseCoverage>(setup);
      }};
}

}  // namespace assay::coverage
