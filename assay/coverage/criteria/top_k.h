#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::coverage {

// Positions of the k greatest values (the k least with `least`), greatest first, ties to the lowest position;
// all positions where there are no more than k. `out` is reused. O(values * k).
void top_k(std::span<const float> values, std::size_t k, bool least, std::vector<std::uint32_t>& out);

}  // namespace assay::coverage
