// Mahalanobis-distance surprise coverage.

#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/gaussian_surprise.h"
#include "assay/surprise/mdsa.h"

namespace assay::coverage {

CriterionInfo mdsc_criterion() {
  std::vector<SpecOption> options = surprise_options("100");
  options.push_back(least_variance());
  return {.name = "mdsc",
          .summary =
              "Mahalanobis-distance surprise coverage: distance to the mean of the class's training traces "
              "under their covariance",
          .definition =
              "MDSA = sqrt((x - mean)^T C^-1 (x - mean)), mean and covariance C of the training traces of "
              "the record's class; buckets of (lower, upper] "
              "that hold the MDSA of at least one record, divided by all buckets",
          .limits = "takes each class for one Gaussian",
          .paper = "Kim et al., Reducing DNN Labelling Cost using Surprise Adequacy, FSE 2020",
          .options = std::move(options),
          .needs = CriterionInfo::Needs::traces,
          .all_layers = false,
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
            return std::make_unique<GaussianSurpriseCoverage<surprise::MdsaReference>>(
                setup, surprise::GaussianOptions{setup.options.number("variance", 0), 0});
          }};
}

}  // namespace assay::coverage
