#pragma once

// The best sequence of pieces of a text (Viterbi's algorithm), whose scores add up in numbers of type Score.

#include <algorithm>
#include <optional>
#include <vector>

#include "assay/text/pattern.h"

namespace assay::text {

template <typename Score>
class BestPieces {
 public:
  explicit BestPieces(std::size_t bytes) : best_(bytes + 1) {}

  // Of the best pieces up to this byte.
  Score until(std::size_t end) const { return best_[end].score; }
  // A piece after the best ones before it; `total`: with their score. The first of equal ones counts.
  void offer(std::size_t begin, std::size_t end, auto total, bool unknown = false) {
    if (!best_[end].begin || total > best_[end].score)
      best_[end] = {static_cast<Score>(total), begin, unknown};
  }

  // Unknown characters after each other are one.
  std::vector<Range> ranges() const {
    std::vector<Range> found;
    bool unknown = false;
    for (std::size_t end = best_.size() - 1; end > 0; end = *best_[end].begin) {
      if (unknown && best_[end].unknown)
        found.back().begin = *best_[end].begin;
      else
        found.push_back({*best_[end].begin, end});
      unknown = best_[end].unknown;
    }
    std::ranges::reverse(found);
    return found;
  }

 private:
  struct Best {
    Score score = 0;
    std::optional<std::size_t> begin = {};  // of the last piece
    bool unknown = false;
  };
  std::vector<Best> best_;  // that end at each byte
};

}  // namespace assay::text
