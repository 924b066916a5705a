#pragma once

// Sequences compared symbol by symbol.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay::task {

// The least number of symbols that have to be replaced, left out or put in (Levenshtein, 1966).
// O(a * b) time, O(b) memory.
std::size_t edit_distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

// Pairs of positions in both, -1 where the other has no partner, of one shortest way from one to the other.
// O(a * b) time and memory. Throws Error{resources} for sequences of more than 2^26 pairs.
std::vector<std::pair<int, int>> aligned(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace assay::task
