// Bounds on the probability of failure from counts.

#include <assay/reliability.h>

#include <algorithm>
#include <cmath>

#include "assay/support/numbers/binomial.h"

namespace assay::reliability {
namespace {

constexpr int halvings = 200;

double divergence(double q, double p) {
  const double hit = q > 0 ? q * std::log(q / p) : 0,
               other = q < 1 ? (1 - q) * std::log((1 - q) / (1 - p)) : 0;
  return hit + other;
}

// The greatest p with kl(q, p) <= most.
double inverse_divergence(double q, double most) {
  double low = q, high = 1;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    (divergence(q, middle) <= most ? low : high) = middle;
  }
  return high;
}

}  // namespace

std::pair<double, double> clopper_pearson(std::size_t hits, std::size_t trials, double miss) {
  const Interval interval = assay::clopper_pearson(hits, trials, miss);
  return {interval.low, interval.high};
}

WeightedBound weighted_bound(std::span<const Stratum> strata, double miss) {
  WeightedBound found{.estimate = 0, .upper = 0};
  const double each = miss / std::max<std::size_t>(1, strata.size());
  for (const Stratum& one : strata) {
    const double share = one.records == 0 ? 1 : static_cast<double>(one.failures) / one.records;
    found.estimate += one.weight * share;
    found.upper += one.weight * clopper_pearson(one.failures, one.records, each).second;
  }
  found.upper = std::min(1.0, found.upper);
  return found;
}

std::vector<NamedBound> generalisation_bounds(const BoundInputs& inputs) {
  const double n = inputs.records, share = inputs.failures / n;
  const std::string drawn = "test records are drawn independently from operation; ";
  const std::string unseen = drawn + "they had no part in training or choosing the network";
  std::vector<NamedBound> bounds{
      {"test set, exact", "test records", unseen, "Clopper and Pearson 1934; Langford, JMLR 2005",
       clopper_pearson(inputs.failures, inputs.records, inputs.miss).second},
      {"test set, Hoeffding", "test records", unseen, "Hoeffding 1963",
       std::min(1.0, share + std::sqrt(std::log(1 / inputs.miss) / (2 * n)))}};
  if (inputs.candidates > 1)
    bounds.push_back(
        {"best of " + std::to_string(inputs.candidates), "test records",
         drawn + "the network was chosen by them among so many, which were there before",
         "Langford, JMLR 2005",
         clopper_pearson(inputs.failures, inputs.records, inputs.miss / inputs.candidates).second});
  if (inputs.training) {
    const auto [failures, records] = *inputs.training;
    const double m = records;
    const double complexity = (inputs.bits * std::log(2.0) + std::log(1 / inputs.miss)) / m;
    bounds.push_back(
        {"Occam's razor", "training records",
         "training records are drawn independently from operation; a network is as likely before "
         "training as its weights need bits",
         "Blumer et al. 1987; Langford, JMLR 2005", inverse_divergence(failures / m, complexity)});
  }
  return bounds;
}

}  // namespace assay::reliability
