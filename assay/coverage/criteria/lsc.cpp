// Likelihood-based surprise coverage (Kim et al., ICSE 2019).

#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/gaussian_surprise.h"
#include "assay/surprise/lsa.h"

namespace assay::coverage {

CriterionInfo lsc_criterion() {
  std::vector<SpecOption> options = surprise_options("2000");
  options.push_back(least_variance());
  options.push_back({"dimensions", "0", "keep so many neurons of highest variance; 0: all"});
  return {
      .name = "lsc",
      .summary =
          "likelihood-based surprise coverage: how unlikely records are under a density estimate of their "
          "class's traces",
      .definition =
          "LSA = -log of a Gaussian kernel density estimate over the training traces of the record's class, "
          "bandwidth by Scott's rule; buckets of "
          "(lower, upper] that hold the LSA of at least one record, divided by all buckets",
      .limits =
          "depends on the upper bound and on which neurons are left out; a density in many dimensions is "
          "hardly an estimate",
      .paper = "Kim, Feldt and Yoo, Guiding Deep Learning System Testing Using Surprise Adequacy, ICSE 2019",
      .options = std::move(options),
      .needs = CriterionInfo::Needs::traces,
      .all_layers = false,
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<GaussianSurpriseCoverage<surprise::LsaReference>>(
            setup, surprise::GaussianOptions{setup.options.number("variance", 0),
                                             setup.options.count("dimensions", 0)});
      }};
}

}  // namespace assay::coverage
