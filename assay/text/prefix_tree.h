#pragma once

// Texts with numbers, to find those with which a text begins.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/support/ascii.h"

namespace assay::text {

class PrefixTree {
 public:
  PrefixTree() = default;
  // Of entries with the same text the last counts; empty ones match nowhere.
  explicit PrefixTree(const std::vector<std::pair<std::string, std::uint32_t>>& entries);

  bool empty() const { return entries_.empty(); }
  // Calls visit(length, number) for all entries at the beginning of `text`, the shortest first.
  // O(length of the longest * log entries).
  template <typename Visit>
  void for_each(std::string_view text, Visit visit) const {
    std::size_t low = 0, high = entries_.size();
    for (std::size_t length = 0; length < text.size() && low < high; ++length) {
      narrow(byte_of(text[length]), length, low, high);
      if (low < high && entries_[low].first.size() == length + 1) visit(length + 1, entries_[low].second);
    }
  }

 private:
  // Leaves the entries with this byte at this place, of those with the same bytes before.
  void narrow(unsigned char byte, std::size_t at, std::size_t& low, std::size_t& high) const;

  std::vector<std::pair<std::string, std::uint32_t>> entries_;  // in the order of their bytes
  std::vector<std::uint32_t> begin_of_byte_;  // of entries with this first byte, 257 numbers
};

}  // namespace assay::text
