#pragma once

// Parts of a data set that are looked at in one pass; a record may be in several.

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace assay::inline engine {

class PartsOfRecords {
 public:
  // REQUIRES positions below `records`.
  PartsOfRecords(std::size_t records, const std::vector<std::vector<std::size_t>>& parts)
      : parts_(parts.empty() ? 0 : records) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      for (const std::size_t record : parts[p]) parts_.at(record).push_back(p);
    }
  }

  // Of records at these positions, which ones (as numbers in `positions`) each part has.
  std::map<std::size_t, std::vector<std::size_t>> rows_by_part(std::span<const std::size_t> positions) const {
    std::map<std::size_t, std::vector<std::size_t>> rows;
    for (std::size_t row = 0; row < positions.size() && !parts_.empty(); ++row) {
      for (const std::size_t part : parts_.at(positions[row])) rows[part].push_back(row);
    }
    return rows;
  }

 private:
  std::vector<std::vector<std::size_t>> parts_;  // of each record; empty: there are none
};

}  // namespace assay::inline engine
