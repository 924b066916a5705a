#pragma once

// Internal: the greedy cover that minimise() starts from.

#include <assay/selection.h>

namespace assay::selection {

struct Candidate {
  std::uint64_t gain = 0;
  std::size_t record = 0;
  // More gain first, then the lower index.
  bool before(const Candidate& other) const {
    return gain != other.gain ? gain > other.gain : record < other.record;
  }
};

// REQUIRES: canonical rows. Memory and time: O(entries).
Cover greedy_cover(const CoveredRows& rows, std::size_t budget);

}  // namespace assay::selection
