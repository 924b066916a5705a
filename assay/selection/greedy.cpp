#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <assay/selection.h>
#include "assay/selection/greedy.h"

namespace assay::selection {
namespace {

// Greedy choice with lazy evaluation, level by level: gains only ever shrink, so a gain counted earlier
// bounds it now. Records wait at the level of their last known gain. Those of the highest level are looked at
// by index; one that still has this gain is the best, the others move down to where they belong, each a few
// times a round. Records not looked at in this round wait in `by_size_`, so that a round costs no more than
// what it looks at.
class LazyGreedy {
 public:
  explicit LazyGreedy(const CoveredRows& rows)
      : rows_(rows), seen_in_(rows.item_limit(), 0), left_(rows.item_limit(), 0) {
    for (const std::uint32_t item : rows.items) live_ += left_[item]++ == 0;
    by_size_.resize(rows.records());
    std::iota(by_size_.begin(), by_size_.end(), std::size_t{0});
    std::stable_sort(by_size_.begin(), by_size_.end(),
                     [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    next_.resize(rows.records() + 1);
    std::iota(next_.begin(), next_.end(), std::size_t{0});
    position_.resize(rows.records());
    for (std::size_t i = 0; i < by_size_.size(); ++i) position_[by_size_[i]] = i;
  }

  std::uint64_t live() const { return live_; }  // items that some record not chosen yet covers

  // Counts anew what is covered. Gains of the round before do not hold any more.
  void start_round() {
    ++round_;
    fresh_ = alive_from(0);
    level_ = fresh_ < by_size_.size() ? size(by_size_[fresh_]) : 0;
    waiting_.resize(level_ + 1);
    for (auto& level : waiting_) level.clear();
    queue_.clear();
    at_ = 0;
    target_ = live_;
    covered_ = 0;
  }
  bool round_complete() const { return covered_ == target_; }

  // REQUIRES: !round_complete(), so some record has a gain and level 0 is not reached.
  Candidate choose() {
    for (;;) {
      const std::size_t record = next_of_level();
      const std::uint64_t now = gain(record);
      if (now == level_) {
        cover(record);
        return {now, record};
      }
      waiting_[now].push_back(record);
    }
  }

 private:
  std::size_t size(std::size_t record) const { return rows_.row(record).size(); }

  std::size_t alive_from(std::size_t place) {
    while (next_[place] != place) {
      next_[place] = next_[next_[place]];
      place = next_[place];
    }
    return place;
  }

  // By index: those that moved to this level, and those not looked at in this round whose rows have this
  // size.
  std::size_t next_of_level() {
    for (;;) {
      fresh_ = alive_from(fresh_);
      const bool moved = at_ < queue_.size(),
                 fresh = fresh_ < by_size_.size() && size(by_size_[fresh_]) == level_;
      if (fresh && (!moved || by_size_[fresh_] < queue_[at_])) return by_size_[fresh_++];
      if (moved) return queue_[at_++];
      --level_;
      queue_.swap(waiting_[level_]);
      std::sort(queue_.begin(), queue_.end());
      at_ = 0;
    }
  }

  std::uint64_t gain(std::size_t record) const {
    const auto row = rows_.row(record);
    return static_cast<std::uint64_t>(
        std::count_if(row.begin(), row.end(), [&](std::uint32_t item) { return seen_in_[item] != round_; }));
  }

  void cover(std::size_t record) {
    for (const std::uint32_t item : rows_.row(record)) {
      covered_ += seen_in_[item] != round_;
      seen_in_[item] = round_;
      live_ -= --left_[item] == 0;
    }
    next_[position_[record]] = position_[record] + 1;
  }

  const CoveredRows& rows_;
  std::vector<std::uint32_t> seen_in_;           // the last round that covered each item
  std::vector<std::uint64_t> left_;              // records not chosen yet that cover it
  std::vector<std::size_t> by_size_, position_;  // all records, longest row first, then by index
  std::vector<std::size_t>
      next_;  // of a place: itself while its record is not chosen, else nearer to the next
  std::vector<std::vector<std::size_t>> waiting_;  // by level
  std::vector<std::size_t> queue_;                 // of the current level, ascending
  std::size_t at_ = 0, fresh_ = 0, level_ = 0;     // places in queue_ and by_size_
  std::uint32_t round_ = 0;
  std::uint64_t live_ = 0, target_ = 0, covered_ = 0;
};

}  // namespace

Cover greedy_cover(const CoveredRows& rows, std::size_t budget) {
  LazyGreedy greedy(rows);
  Cover cover;
  cover.coverable = greedy.live();
  greedy.start_round();
  while (!greedy.round_complete() && cover.records.size() < budget) {
    const Candidate chosen = greedy.choose();
    cover.records.push_back(chosen.record);
    cover.gain.push_back(chosen.gain);
    cover.covered += chosen.gain;
  }
  return cover;
}

Cover budgeted(const CoveredRows& rows, std::size_t budget) {
  Cover cover = greedy_cover(rows.canonical(), budget);
  cover.factor = 1.0 - 1.0 / std::numbers::e;
  return cover;
}

std::vector<std::size_t> order_additional(const CoveredRows& given) {
  const CoveredRows rows = given.canonical();
  LazyGreedy greedy(rows);
  std::vector<std::size_t> order;
  while (greedy.live() > 0) {
    greedy.start_round();
    while (!greedy.round_complete()) order.push_back(greedy.choose().record);
  }
  for (std::size_t r = 0; r < rows.records(); ++r) {
    if (rows.row(r).empty()) order.push_back(r);
  }
  return order;
}

double harmonic(std::uint64_t n) {
  // The sum itself, and its expansion where that is exact to float64.
  constexpr std::uint64_t many = 1000;
  if (n > many) {
    const auto x = static_cast<double>(n);
    return std::log(x) + std::numbers::egamma + 1 / (2 * x) - 1 / (12 * x * x);
  }
  double sum = 0;
  for (std::uint64_t i = n; i > 0; --i) sum += 1.0 / static_cast<double>(i);
  return sum;
}

}  // namespace assay::selection
