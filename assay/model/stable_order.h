#pragma once

// Topological order that keeps to the order things have.

#include <vector>

namespace assay {

// Places such that each comes after those in `before` of it, and otherwise as they are (Kahn's algorithm with
// the lowest place first). Places that wait for each other are left out. O(n log n).
std::vector<int> stable_order(const std::vector<std::vector<int>>& before);

}  // namespace assay
