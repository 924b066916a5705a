#pragma once

// The loop of a convolution's changed weights (changed_weights.h), compiled for every vector instruction set
// and chosen at run time. One record at a time: neighbouring positions of a result read neighbouring
// elements.

#include <cstdint>
#include <span>

namespace assay::inline engine {

struct ChangedTap {
  std::int32_t offset = 0;  // of the element that the first position reads
  float by = 0;
};

// Floats that sum_taps() may read and write after the last position: whole vectors.
inline constexpr std::int64_t tap_slack = 15;

// sums[p] = start + sum over taps of by * from[offset + p], p < positions, in the order of the taps.
void sum_taps(std::span<const ChangedTap> taps, float start, std::int64_t positions, const float* from,
              float* sums);

}  // namespace assay::inline engine
