#pragma once

// The items that each record of a test set covers, as compressed rows: what every choice of tests by coverage needs.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

struct CoveredRows {
  // Record r covers items[begin[r]] up to items[begin[r + 1]]; begin has one entry more than there are records.
  std::vector<std::uint64_t> begin = {0};
  std::vector<std::uint32_t> items;   // dense ids work best: memory is proportional to the greatest; order does not matter

  std::size_t records() const { return begin.size() - 1; }
  std::span<const std::uint32_t> row(std::size_t record) const {
    return std::span(items).subspan(begin[record], begin[record + 1] - begin[record]);
  }
  void add(std::span<const std::uint32_t> row);
  std::uint64_t item_limit() const;  // one more than the greatest id

  // The same with every row ascending and free of repetitions. Throws Error{data} when `begin` does not describe rows.
  // O(entries log entries).
  CoveredRows canonical() const;
};

}  // namespace assay
