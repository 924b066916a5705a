#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <queue>

#include "assay/selection/cover.h"
#include "assay/selection/greedy.h"

namespace assay {
namespace {

// Greedy choice with lazy evaluation: gains only ever shrink, so a gain counted earlier bounds it now, and a record whose
// fresh gain still leads all bounds is the best. All records of one round start in `by_size_`, whose order (row size,
// index) is the first round's order of bounds; only those that were looked at again move to the heap of the round.
class LazyGreedy {
 public:
  explicit LazyGreedy(const CoveredRows& rows) : rows_(rows), seen_in_(rows.item_limit(), 0), left_(rows.item_limit(), 0) {
    for (const std::uint32_t item : rows.items) live_ += left_[item]++ == 0;
    by_size_.resize(rows.records());
    std::iota(by_size_.begin(), by_size_.end(), std::size_t{0});
    std::stable_sort(by_size_.begin(), by_size_.end(), [&](std::size_t a, std::size_t b) { return rows.row(a).size() > rows.row(b).size(); });
    next_.resize(rows.records() + 1);
    std::iota(next_.begin(), next_.end(), std::size_t{0});
    position_.resize(rows.records());
    for (std::size_t i = 0; i < by_size_.size(); ++i) position_[by_size_[i]] = i;
  }

  std::uint64_t live() const { return live_; }  // items that some record not chosen yet covers

  // Counts anew what is covered. Bounds of the round before do not hold any more.
  void start_round() {
    ++round_;
    heap_ = {};
    place_ = 0;
    target_ = live_;
    covered_ = 0;
  }
  bool round_complete() const { return covered_ == target_; }

  // REQUIRES: !round_complete().
  Candidate choose() {
    for (;;) {
      const Candidate best = take_best_bound();
      const Candidate now{gain(best.record), best.record};
      if (now.gain == best.gain || leads(now)) {
        cover(now.record);
        return now;
      }
      heap_.push(now);
    }
  }

 private:
  struct Worse {
    bool operator()(const Candidate& a, const Candidate& b) const { return b.before(a); }
  };

  std::size_t alive_from(std::size_t place) {
    while (next_[place] != place) {
      next_[place] = next_[next_[place]];
      place = next_[place];
    }
    return place;
  }

  // The best of those not looked at in this round. REQUIRES: there is one.
  bool fresh_left() {
    place_ = alive_from(place_);
    return place_ < by_size_.size();
  }
  Candidate fresh() const { return {rows_.row(by_size_[place_]).size(), by_size_[place_]}; }

  Candidate take_best_bound() {
    const bool from_list = fresh_left() && (heap_.empty() || fresh().before(heap_.top()));
    if (from_list) {
      const Candidate best = fresh();
      ++place_;
      return best;
    }
    const Candidate best = heap_.top();
    heap_.pop();
    return best;
  }

  bool leads(const Candidate& now) {
    return (heap_.empty() || now.before(heap_.top())) && (!fresh_left() || now.before(fresh()));
  }

  std::uint64_t gain(std::size_t record) const {
    const auto row = rows_.row(record);
    return static_cast<std::uint64_t>(std::count_if(row.begin(), row.end(), [&](std::uint32_t item) { return seen_in_[item] != round_; }));
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
  std::vector<std::uint64_t> seen_in_;         // the last round that covered each item
  std::vector<std::uint64_t> left_;            // records not chosen yet that cover it
  std::vector<std::size_t> by_size_, position_;
  std::vector<std::size_t> next_;              // of a place: itself while its record is not chosen, else nearer to the next
  std::priority_queue<Candidate, std::vector<Candidate>, Worse> heap_;
  std::size_t place_ = 0;
  std::uint64_t round_ = 0, live_ = 0, target_ = 0, covered_ = 0;
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

}  // namespace assay
