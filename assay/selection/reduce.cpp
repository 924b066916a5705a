#include "assay/selection/reduce.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::selection {
namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

class Reducer {
 public:
  Reducer(const CoveredRows& rows, std::uint64_t work) : work_(work), covers_(rows.records()) {
    coverers_.resize(rows.item_limit());
    for (std::size_t r = 0; r < rows.records(); ++r) {
      const auto row = rows.row(r);
      covers_[r].assign(row.begin(), row.end());
      for (const std::uint32_t item : row) coverers_[item].push_back(static_cast<std::uint32_t>(r));
    }
    gone_records_.resize(covers_.size());
    gone_items_.resize(coverers_.size());
    for (std::size_t i = 0; i < coverers_.size(); ++i) gone_items_[i] = coverers_[i].empty();
  }

  ReducedProblem run() {
    ReducedProblem problem;
    bool first = true;
    for (bool changed = true; changed;) {
      changed = take_forced(problem);
      if (first) problem.forced = problem.taken.size();
      first = false;
      if (work_ > 0) changed |= drop_items();
      if (work_ > 0) changed |= drop_records();
    }
    std::sort(problem.taken.begin(), problem.taken.end());
    put_rest(problem);
    return problem;
  }

 private:
  bool take_forced(ReducedProblem& problem) {
    bool any = false;
    for (std::size_t i = 0; i < coverers_.size(); ++i) {
      if (gone_items_[i] || coverers_[i].size() != 1) continue;
      const std::uint32_t record = coverers_[i][0];
      if (gone_records_[record]) continue;
      any = true;
      problem.taken.push_back(record);
      gone_records_[record] = true;
      for (const std::uint32_t item : covers_[record]) gone_items_[item] = true;
    }
    if (any) forget_what_is_gone();
    return any;
  }

  // Items in the order of their coverers' number: one with few makes those with more superfluous.
  bool drop_items() {
    bool any = false;
    for (const std::uint32_t few : by_size(coverers_, gone_items_)) {
      if (gone_items_[few] || work_ == 0) continue;
      const auto& coverers = coverers_[few];
      const std::uint32_t shortest = *std::min_element(
          coverers.begin(), coverers.end(),
          [&](std::uint32_t a, std::uint32_t b) { return covers_[a].size() < covers_[b].size(); });
      for (const std::uint32_t item : covers_[shortest]) {
        if (item == few || gone_items_[item] || !has_all(coverers_[item], coverers)) continue;
        gone_items_[item] = any = true;
      }
    }
    if (any) forget_what_is_gone();
    return any;
  }

  // Of records that cover the same the first stays.
  bool drop_records() {
    bool any = false;
    for (const std::uint32_t record : by_size(covers_, gone_records_)) {
      if (work_ == 0) break;
      const auto& items = covers_[record];
      bool dominated = items.empty();
      if (!dominated) {
        const std::uint32_t rarest = *std::min_element(
            items.begin(), items.end(),
            [&](std::uint32_t a, std::uint32_t b) { return coverers_[a].size() < coverers_[b].size(); });
        dominated = std::any_of(coverers_[rarest].begin(), coverers_[rarest].end(), [&](std::uint32_t other) {
          const bool goes_first = covers_[other].size() > items.size() || other < record;
          return other != record && !gone_records_[other] && goes_first && has_all(covers_[other], items);
        });
      }
      if (dominated) gone_records_[record] = any = true;
    }
    if (any) forget_what_is_gone();
    return any;
  }

  // Both ascending.
  bool has_all(const std::vector<std::uint32_t>& large, const std::vector<std::uint32_t>& small) {
    if (large.size() < small.size()) return false;
    work_ -= std::min<std::uint64_t>(work_, large.size() + small.size());
    return std::includes(large.begin(), large.end(), small.begin(), small.end());
  }

  static std::vector<std::uint32_t> by_size(const Lists& lists, const std::vector<bool>& gone) {
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (!gone[i]) order.push_back(static_cast<std::uint32_t>(i));
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return lists[a].size() < lists[b].size(); });
    return order;
  }

  void forget_what_is_gone() {
    const auto forget = [](Lists& lists, const std::vector<bool>& gone,
                           const std::vector<bool>& gone_members) {
      for (std::size_t i = 0; i < lists.size(); ++i) {
        if (gone[i])
          lists[i] = {};
        else
          std::erase_if(lists[i], [&](std::uint32_t member) { return gone_members[member]; });
      }
    };
    forget(covers_, gone_records_, gone_items_);
    forget(coverers_, gone_items_, gone_records_);
  }

  void put_rest(ReducedProblem& problem) const {
    std::vector<std::uint32_t> numbers(coverers_.size());
    std::uint32_t items = 0;
    for (std::size_t i = 0; i < coverers_.size(); ++i) {
      if (!gone_items_[i]) numbers[i] = items++;
    }
    problem.coverers.resize(items);
    for (std::size_t r = 0; r < covers_.size(); ++r) {
      if (gone_records_[r] || covers_[r].empty()) continue;
      std::vector<std::uint32_t> row;
      for (const std::uint32_t item : covers_[r]) {
        row.push_back(numbers[item]);
        problem.coverers[numbers[item]].push_back(static_cast<std::uint32_t>(problem.records.size()));
      }
      problem.records.push_back(r);
      problem.rows.add(row);
    }
  }

  std::uint64_t work_;
  Lists covers_, coverers_;  // items of a record, records of an item: those left, ascending
  std::vector<bool> gone_records_, gone_items_;
};

// Raises prices, items with few coverers first, while no record holds more than 1. Returns their sum.
double raised(const ReducedProblem& problem, std::vector<double> prices) {
  std::vector<double> held(problem.records.size());
  for (std::size_t i = 0; i < prices.size(); ++i) {
    for (const std::uint32_t r : problem.coverers[i]) held[r] += prices[i];
  }
  std::vector<std::size_t> order(prices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem.coverers[a].size() < problem.coverers[b].size();
  });
  for (const std::size_t i : order) {
    double remaining = 1;
    for (const std::uint32_t r : problem.coverers[i]) remaining = std::min(remaining, 1 - held[r]);
    if (remaining <= 0) continue;
    prices[i] += remaining;
    for (const std::uint32_t r : problem.coverers[i]) held[r] += remaining;
  }
  return std::accumulate(prices.begin(), prices.end(), 0.0);
}

}  // namespace

ReducedProblem reduce(const CoveredRows& rows, std::uint64_t work) { return Reducer(rows, work).run(); }

std::uint64_t fractional_bound(const ReducedProblem& problem) {
  std::vector<double> prices(problem.coverers.size());
  for (std::size_t i = 0; i < prices.size(); ++i) {
    std::size_t largest = 1;
    for (const std::uint32_t r : problem.coverers[i]) largest = std::max(largest, problem.rows.row(r).size());
    prices[i] = 1.0 / largest;
  }
  const double sum = std::max(raised(problem, prices), raised(problem, std::vector<double>(prices.size())));
  constexpr double rounding = 1e-9;  // of sums of at most some million prices
  return static_cast<std::uint64_t>(std::ceil(sum * (1 - rounding) - rounding));
}

}  // namespace assay::selection
