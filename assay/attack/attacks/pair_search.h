#pragma once

// The search inside JSMA: the pair of features that helps the target most.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace assay::attack {

// The pair p < q of admissible features with the greatest (a_p + a_q) * -(b_p + b_q) among those whose first
// sum is above 0 and whose second is below 0; the lowest p, then q among equals. Nothing where no pair is so.
// All spans have one entry per feature.
//
// Exact without looking at all pairs: both sums only gain when a feature is replaced by one with no smaller a
// and no greater b. A feature with two such others is therefore in no best pair, or only in one that ties
// with a pair without it. O(n log n) for the sort, then the few features that are left.
std::optional<std::pair<std::size_t, std::size_t>> best_pair(std::span<const float> a,
                                                             std::span<const float> b,
                                                             std::span<const std::uint8_t> admissible);

}  // namespace assay::attack
