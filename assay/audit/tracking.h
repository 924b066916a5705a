#pragma once

// How well one measurement of subsets tracks another: the statistic, its interval, its chance.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <assay/audit.h>
#include "assay/audit/subsets.h"
#include "assay/audit/values.h"

namespace assay::audit {

// Mean over the strata where it is defined; NaN where it is nowhere.
double mean_defined(std::span<const double> values);
// Kendall's tau-b in each stratum.
std::vector<double> taus(const Values& a, const Values& b);
// Their mean.
double mean_tau(const Values& a, const Values& b);

// Uncertainty of mean_tau(values, faults): a 95 % interval around it, from its variance over subsets (a
// bootstrap within strata) and over faults (a jackknife that leaves one of up to 20 groups out; Efron and
// Stein 1981). Drawing faults with replacement would weaken the correlation itself. What it needs of faults
// is kept for all criteria.
class Uncertainty {
 public:
  Uncertainty(const std::vector<Stratum>& strata, const selection::CoveredRows& faults, std::size_t resamples,
              std::uint64_t seed);
  // NaN for fewer than two faults, or where `tau` is NaN.
  std::pair<double, double> interval(const Values& values, const Values& faults, double tau,
                                     std::size_t threads) const;

 private:
  double variance_over_subsets(const Values& values, const Values& faults, std::size_t threads) const;
  double variance_over_faults(const Values& values) const;

  std::vector<Values> without_;  // faults of each subset without those of a group, by group
  std::size_t resamples_;
  std::uint64_t seed_;
};

// Whether a permutation counts as reaching what was observed: in size, or in the direction of its sign.
enum class Tail { both, signed_one };

// Permutation p values of mean_tau(values, faults[f]) for each kind of faults: rows of items are exchanged
// among the records of each cell. Exact where rows are exchangeable within cells; sequential (Besag and
// Clifford 1991): a kind of faults that chance has reached 20 times is settled, with p = 20 / (permutations
// so far). `observed` may hold NaN: its p is 1.
std::vector<double> permutation_p(const Valuer& valuer, const std::vector<Stratum>& strata,
                                  const std::vector<std::int64_t>& cells, const std::vector<Values>& faults,
                                  const std::vector<double>& observed, Tail tail, std::size_t permutations,
                                  std::uint64_t seed, std::size_t threads);

// Adjusted R^2 of a linear regression of the ranks of `values` on the shares of classes in a subset, both
// centred within strata; nothing where there are fewer than four subsets for each class or nothing varies.
std::optional<double> explained_by_classes(const std::vector<Stratum>& strata, const Values& values,
                                           const std::vector<std::int32_t>& classes);

}  // namespace assay::audit
