#pragma once

// For any measure: p values by permutation of records, and intervals by a bootstrap over records
// (docs/algorithms/inspection-measures.md).

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <assay/extend/measure.h>

namespace assay::inspection {

struct Resampling {
  std::size_t permutations = 0;  // for p values; 0: the measure's own, where it has one
  std::size_t bootstrap = 0;     // replicates for intervals; 0: the measure's own, where it has one
};

// A state whose result() has resampled p values and intervals. It costs `permutations` states more, and
// another `bootstrap_groups` where there is a bootstrap. Throws Error{usage} for a bootstrap of a measure
// that does not merge, for more than `most_resamples`, and for an invalid confidence or tolerance.
std::unique_ptr<MeasureState> make_state(const MeasureInfo& info, const MeasureSetup& setup,
                                         const Resampling& resampling);

// Permutations, and replicates, of one state at most.
inline constexpr std::size_t most_resamples = 1'000'000;

// The bootstrap draws groups of records, not single ones.
inline constexpr std::size_t bootstrap_groups = 32;

}  // namespace assay::inspection
