#pragma once

// Records as they are given, for what looks at all of them before a network runs.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <assay/dataset.h>

namespace assay::inline engine {

// Calls body(batch) for all records in order, some at a time, as long as it returns true. Batch::indices say
// which they are.
template <typename Body>
void each_batch(const Dataset& data, const Body& body) {
  constexpr std::size_t at_a_time = 1024;
  for (std::size_t begin = 0; begin < data.size(); begin += at_a_time) {
    std::vector<std::size_t> records(std::min(at_a_time, data.size() - begin));
    std::iota(records.begin(), records.end(), begin);
    if (!body(data.read(records))) return;
  }
}

}  // namespace assay::inline engine
