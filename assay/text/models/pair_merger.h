#pragma once

// Neighbouring tokens that merge, the best pair first (Sennrich et al. 2016).

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace assay::text {

inline constexpr std::size_t no_symbol = -1;

// Tokens of a text as a list, in which neighbours merge.
struct Symbol {
  std::uint32_t id = 0;
  std::size_t before = no_symbol, after = no_symbol;
  std::size_t begin = 0, bytes = 0;  // no bytes: merged into the one before
  bool whole = false;                // never merges
};

inline void append_symbol(std::vector<Symbol>& symbols, Symbol symbol) {
  if (!symbols.empty()) {
    symbol.before = symbols.size() - 1;
    symbols.back().after = symbols.size();
  }
  symbols.push_back(symbol);
}

struct PairMerge {
  std::uint32_t rank = 0, id = 0;  // of the token that a pair becomes
};

// `find(left, right)`: what two neighbours become, if anything, as optional<PairMerge>.
template <typename Find>
class PairMerger {
 public:
  PairMerger(std::vector<Symbol>& symbols, const Find& find) : symbols_(symbols), find_(find) {}

  void run() {
    for (std::size_t i = 0; i + 1 < symbols_.size(); ++i) queue(i);
    while (!queue_.empty()) {
      const QueuedMerge next = queue_.top();
      queue_.pop();
      if (holds(next)) merge(next);
    }
  }

 private:
  // The first merge comes first, and of equal ones the one to the left.
  struct QueuedMerge {
    PairMerge merge;
    std::size_t at = 0;
    bool operator>(const QueuedMerge& other) const {
      return std::pair(merge.rank, at) > std::pair(other.merge.rank, other.at);
    }
  };

  std::optional<PairMerge> found(std::size_t at) const {
    const Symbol& symbol = symbols_[at];
    if (symbol.after == no_symbol) return std::nullopt;
    return find_(symbol, symbols_[symbol.after]);
  }
  void queue(std::size_t at) {
    if (const auto merge = found(at)) queue_.push({*merge, at});
  }
  // Merges since then may have changed the pair.
  bool holds(const QueuedMerge& queued) const {
    if (symbols_[queued.at].bytes == 0) return false;
    const auto merge = found(queued.at);
    return merge && merge->id == queued.merge.id;
  }
  void merge(const QueuedMerge& queued) {
    Symbol& left = symbols_[queued.at];
    Symbol& right = symbols_[left.after];
    left.id = queued.merge.id;
    left.bytes += right.bytes;
    left.after = right.after;
    right.bytes = 0;
    if (left.after != no_symbol) symbols_[left.after].before = queued.at;
    if (left.before != no_symbol) queue(left.before);
    queue(queued.at);
  }

  std::vector<Symbol>& symbols_;
  const Find& find_;
  std::priority_queue<QueuedMerge, std::vector<QueuedMerge>, std::greater<>> queue_;
};

template <typename Find>
void merge_pairs(std::vector<Symbol>& symbols, const Find& find) {
  PairMerger<Find>(symbols, find).run();
}

}  // namespace assay::text
