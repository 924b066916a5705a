#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include <assay/selection.h>
#include "assay/selection/greedy.h"

namespace assay::selection {
namespace {

// Greedy choice by counting down. A record's gain is known but for what the last choices have covered; where
// that does not touch the record that leads, it is the best. Where it does, it is taken from the gains of
// all: an item that became covered takes one from each record that covers it, so that a round, until all is
// covered that can be, costs no more than one step an entry of the rows. The record that leads is found
// through bounds of blocks of records, which are counted anew only where they may hold it.
class CountingGreedy {
 public:
  explicit CountingGreedy(const CoveredRows& rows)
      : rows_(rows),
        covered_(rows.item_limit()),
        coverers_(rows.items.size()),
        begin_(rows.item_limit() + 1),
        waiting_(rows.item_limit()),
        chosen_(rows.records()),
        gain_(rows.records()),
        bound_((rows.records() + block - 1) / block) {
    for (const std::uint32_t item : rows.items) ++begin_[item + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    end_.assign(begin_.begin(), begin_.end() - 1);
    for (std::size_t r = 0; r < rows.records(); ++r) {
      for (const std::uint32_t item : rows.row(r)) coverers_[end_[item]++] = static_cast<std::uint32_t>(r);
    }
    for (std::size_t item = 0; item < waiting_.size(); ++item) {
      waiting_[item] = static_cast<std::uint32_t>(end_[item] - begin_[item]);
      live_ += waiting_[item] > 0;
    }
    restore_gains();
  }

  std::uint64_t live() const { return live_; }  // items that some record not chosen yet covers

  // Counts anew what is covered.
  void start_round() {
    for (const std::uint32_t item : covered_now_) covered_[item] = false;
    covered_now_.clear();
    if (counted_ > 0) restore_gains();
    left_ = live_;
  }
  bool round_complete() const { return left_ == 0; }

  // REQUIRES: !round_complete(), so some record has a gain.
  Candidate choose() {
    std::size_t record = leader();
    if (counted_ < covered_now_.size() && still_uncovered(record) != gain_[record]) {
      count_down();
      record = leader();
    }
    const std::uint32_t gain = gain_[record];
    chosen_[record] = true;
    gain_[record] = 0;
    for (const std::uint32_t item : rows_.row(record)) {
      live_ -= --waiting_[item] == 0;
      if (covered_[item]) continue;
      covered_[item] = true;
      covered_now_.push_back(item);
      --left_;
    }
    return {gain, record};
  }

 private:
  static constexpr std::size_t block = 512;

  std::span<const std::uint32_t> gains_of(std::size_t b) const {
    return std::span(gain_).subspan(b * block, std::min(block, gain_.size() - b * block));
  }
  std::uint32_t greatest_of(std::size_t b) const {
    std::uint32_t greatest = 0;
    for (const std::uint32_t gain : gains_of(b)) greatest = std::max(greatest, gain);
    return greatest;
  }
  std::uint32_t still_uncovered(std::size_t record) const {
    const auto row = rows_.row(record);
    return static_cast<std::uint32_t>(
        std::ranges::count_if(row, [&](std::uint32_t item) { return !covered_[item]; }));
  }

  void restore_gains() {
    for (std::size_t r = 0; r < gain_.size(); ++r)
      gain_[r] = chosen_[r] ? 0 : static_cast<std::uint32_t>(rows_.row(r).size());
    for (std::size_t b = 0; b < bound_.size(); ++b) bound_[b] = greatest_of(b);
    counted_ = 0;
  }

  // The first of the records with the greatest known gain. Gains only shrink within a round, so bounds stay
  // bounds.
  std::size_t leader() {
    for (;;) {
      const std::uint32_t top = *std::ranges::max_element(bound_);
      for (std::size_t b = 0; b < bound_.size(); ++b) {
        if (bound_[b] != top) continue;
        bound_[b] = greatest_of(b);
        if (bound_[b] != top) continue;
        const auto gains = gains_of(b);
        return b * block + static_cast<std::size_t>(std::ranges::find(gains, top) - gains.begin());
      }
    }
  }

  // Lists of coverers forget those who have been chosen.
  void count_down() {
    for (; counted_ < covered_now_.size(); ++counted_) {
      const std::uint32_t item = covered_now_[counted_];
      std::uint64_t kept = begin_[item];
      for (std::uint64_t i = begin_[item]; i < end_[item]; ++i) {
        const std::uint32_t record = coverers_[i];
        const bool waits = !chosen_[record];
        coverers_[kept] = record;
        kept += waits;
        gain_[record] -= waits;
      }
      end_[item] = kept;
    }
  }

  const CoveredRows& rows_;
  std::vector<char> covered_;               // in this round, by item
  std::vector<std::uint32_t> covered_now_;  // these items, in order
  std::size_t counted_ = 0;                 // so many of them are taken from gain_
  std::vector<std::uint32_t> coverers_;     // of each item, from begin_ to end_, ascending
  std::vector<std::uint64_t> begin_, end_;
  std::vector<std::uint32_t> waiting_;       // of each item: coverers that are not chosen
  std::vector<char> chosen_;                 // by record
  std::vector<std::uint32_t> gain_, bound_;  // of a record; no less than those of a block's records
  std::uint64_t live_ = 0, left_ = 0;        // left_: items to be covered in this round
};

}  // namespace

Cover greedy_cover(const CoveredRows& rows, std::size_t budget) {
  CountingGreedy greedy(rows);
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

Cover budgeted(CoveredRows rows, std::size_t budget) {
  Cover cover = greedy_cover(std::move(rows).canonical(), budget);
  cover.factor = 1.0 - 1.0 / std::numbers::e;
  return cover;
}

std::vector<std::size_t> order_additional(CoveredRows given, std::size_t most) {
  const CoveredRows rows = std::move(given).canonical();
  CountingGreedy greedy(rows);
  std::vector<std::size_t> order;
  while (greedy.live() > 0 && order.size() < most) {
    greedy.start_round();
    while (!greedy.round_complete() && order.size() < most) order.push_back(greedy.choose().record);
  }
  for (std::size_t r = 0; r < rows.records() && order.size() < most; ++r) {
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
  for (std::uint64_t i = n; i > 0; --i) sum += 1.0 / i;
  return sum;
}

}  // namespace assay::selection
