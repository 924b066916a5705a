#pragma once

// Verification of an affinity by perturbation (Sellam et al., SIGMOD 2019, section 4.4): do units react to
// what a hypothesis says, or to any change of the record (docs/algorithms/inspection.md)?

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <assay/inspection.h>

namespace assay::inspection {

// Units that seem to follow a hypothesis.
struct Claim {
  std::size_t group = 0;  // position among the groups
  std::vector<std::size_t> units;
  std::string hypothesis;
};

struct VerifyOptions {
  std::size_t swaps = 100;          // of each kind
  std::size_t random_groups = 100;  // of as many units, to compare with
  std::uint64_t seed = 1;
};

struct Verification {
  Claim claim;
  std::size_t baseline = 0, treatment = 0;  // swaps found
  // Of the changes of the units under the two kinds of swaps; NaN where there are too few.
  double silhouette = 0;
  double random_mean = 0, random_greatest = 0;  // of the random groups
  double p = 1;        // share of random groups, and these units, that are told apart at least as well
  std::string status;  // empty, or why there is no answer: too_few_swaps, constant_units
};

// REQUIRES records of tokens and a vocabulary in `options`. Throws as inspect(), and Error{usage} for
// hypotheses and units that there are not.
std::vector<Verification> verify(const std::vector<InspectedModel>& models,
                                 const std::vector<UnitGroup>& groups, const DatasetPtr& dataset,
                                 const std::vector<AnnotatorChoice>& hypotheses,
                                 const InspectOptions& options, std::span<const Claim> claims,
                                 const VerifyOptions& how, Progress& progress);

// Mean silhouette of points in two clusters, Euclidean. `points`: [labels.size(), width]. A cluster of one
// scores 0, and so do points that are all the same. REQUIRES both clusters.
double silhouette_of(std::span<const double> points, std::size_t width, std::span<const char> labels);

}  // namespace assay::inspection
