#pragma once

// Sets of record positions as disjoint ranges.

#include <cstddef>
#include <utility>
#include <vector>

namespace assay {

class RecordRanges {
 public:
  // [begin, end). Ranges that touch become one.
  void add(std::size_t begin, std::size_t end);
  bool overlaps(const RecordRanges& other) const;
  std::size_t size() const;
  // Positions of [begin, end) that are not in the set, ascending.
  std::vector<std::size_t> missing(std::size_t begin, std::size_t end) const;
  const std::vector<std::pair<std::size_t, std::size_t>>& ranges() const { return ranges_; }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> ranges_;  // ascending, disjoint, not touching
};

}  // namespace assay
