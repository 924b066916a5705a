#pragma once

// Topological order that keeps to the order things have.

#include <cstddef>
#include <vector>

namespace assay::inline model {

// An order in which each index comes after those in `before` of it, otherwise unchanged (Kahn's algorithm
// with the lowest index first). Indices of a cycle are left out. O(n log n).
std::vector<std::size_t> stable_order(const std::vector<std::vector<std::size_t>>& before);

}  // namespace assay::inline model
