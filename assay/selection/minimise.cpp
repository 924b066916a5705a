#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include <assay/selection.h>
#include "assay/selection/greedy.h"

namespace assay::selection {
namespace {

class Bits {
 public:
  explicit Bits(std::size_t size = 0) : words_((size + 63) / 64) {}
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  bool test(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  std::size_t count() const {
    return std::accumulate(words_.begin(), words_.end(), std::size_t{0}, [](std::size_t n, std::uint64_t w) {
      return n + static_cast<std::size_t>(std::popcount(w));
    });
  }
  std::size_t count_in(const Bits& other) const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < words_.size(); ++i)
      n += static_cast<std::size_t>(std::popcount(words_[i] & other.words_[i]));
    return n;
  }
  bool within(const Bits& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & ~other.words_[i]) != 0) return false;
    }
    return true;
  }
  Bits without(const Bits& other) const {
    Bits result = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) result.words_[i] &= ~other.words_[i];
    return result;
  }
  auto operator<=>(const Bits& other) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

// Items of the problem renumbered, with those covered by the same records merged into one.
struct Reduced {
  std::vector<std::size_t> chosen;                 // records that every smallest subset may contain
  std::vector<std::size_t> records;                // those left
  std::vector<Bits> covers;                        // of each record left: items left
  std::vector<std::vector<std::size_t>> coverers;  // of each item left: positions in `records`
};

// Reductions that keep a smallest subset, until none applies: a record that alone covers an item is taken; an
// item whose coverers include all of another item's is dropped; a record whose items are all in another's is
// dropped.
class Reduction {
 public:
  explicit Reduction(const CoveredRows& rows) {
    std::map<std::uint32_t, std::vector<std::size_t>> by_item;
    for (std::size_t r = 0; r < rows.records(); ++r) {
      for (const std::uint32_t item : rows.row(r)) by_item[item].push_back(r);
      if (!rows.row(r).empty()) records_.push_back(r);
    }
    for (auto& [item, coverers] : by_item) items_.push_back(std::move(coverers));
    std::sort(items_.begin(), items_.end());
    items_.erase(std::unique(items_.begin(), items_.end()), items_.end());
  }

  std::uint64_t cells() const { return static_cast<std::uint64_t>(records_.size()) * items_.size(); }

  Reduced run() {
    while (take_essential() | drop_items() | drop_records()) {
    }
    return result();
  }

 private:
  bool take_essential() {
    std::vector<std::size_t> essential;
    for (const auto& coverers : items_) {
      if (coverers.size() == 1) essential.push_back(coverers[0]);
    }
    if (essential.empty()) return false;
    std::sort(essential.begin(), essential.end());
    essential.erase(std::unique(essential.begin(), essential.end()), essential.end());
    const auto taken = [&](std::size_t r) {
      return std::binary_search(essential.begin(), essential.end(), r);
    };
    std::erase_if(items_,
                  [&](const auto& coverers) { return std::any_of(coverers.begin(), coverers.end(), taken); });
    std::erase_if(records_, taken);
    chosen_.insert(chosen_.end(), essential.begin(), essential.end());
    return true;
  }

  // Keeps the items with few coverers.
  bool drop_items() {
    std::sort(items_.begin(), items_.end(), [](const auto& a, const auto& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    std::vector<std::vector<std::size_t>> kept;
    for (auto& item : items_) {
      const bool dominated = std::any_of(kept.begin(), kept.end(), [&](const auto& small) {
        return std::includes(item.begin(), item.end(), small.begin(), small.end());
      });
      if (!dominated) kept.push_back(std::move(item));
    }
    const bool changed = kept.size() < items_.size();
    items_ = std::move(kept);
    return changed;
  }

  bool drop_records() {
    const std::vector<Bits> covers = bits();
    std::vector<std::size_t> order(records_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return covers[a].count() > covers[b].count(); });
    std::vector<std::size_t> kept;
    for (const std::size_t r : order) {
      const bool dominated = std::any_of(kept.begin(), kept.end(),
                                         [&](std::size_t large) { return covers[r].within(covers[large]); });
      if (!dominated && covers[r].count() > 0) kept.push_back(r);
    }
    if (kept.size() == records_.size()) return false;
    std::sort(kept.begin(), kept.end());
    std::vector<std::size_t> left;
    for (const std::size_t r : kept) left.push_back(records_[r]);
    records_ = std::move(left);
    for (auto& coverers : items_) {
      std::erase_if(coverers,
                    [&](std::size_t r) { return !std::binary_search(records_.begin(), records_.end(), r); });
    }
    return true;
  }

  std::size_t position(std::size_t record) const {
    return static_cast<std::size_t>(std::lower_bound(records_.begin(), records_.end(), record) -
                                    records_.begin());
  }

  std::vector<Bits> bits() const {
    std::vector<Bits> covers(records_.size(), Bits(items_.size()));
    for (std::size_t i = 0; i < items_.size(); ++i) {
      for (const std::size_t r : items_[i]) covers[position(r)].set(i);
    }
    return covers;
  }

  Reduced result() const {
    Reduced reduced{chosen_, records_, bits(), items_};
    for (auto& coverers : reduced.coverers) {
      for (std::size_t& r : coverers) r = position(r);
    }
    return reduced;
  }

  std::vector<std::size_t> records_, chosen_;
  std::vector<std::vector<std::size_t>> items_;  // the records, ascending, that cover each
};

// Depth first: every solution covers the open item with the fewest coverers, so one of these is in it.
class Search {
 public:
  Search(const Reduced& problem, std::size_t known, std::uint64_t limit)
      : problem_(problem), best_size_(known), limit_(limit) {}

  void run() {
    Bits open(problem_.coverers.size());
    for (std::size_t i = 0; i < problem_.coverers.size(); ++i) open.set(i);
    lower_bound_ = bound(open);
    visit(open);
  }
  bool complete() const { return nodes_ <= limit_; }
  bool improved() const { return improved_; }
  std::uint64_t nodes() const { return nodes_; }
  std::size_t lower_bound() const { return lower_bound_; }
  const std::vector<std::size_t>& best() const { return best_; }

 private:
  // No fewer records can cover `open`: by the largest gain, and by items that no record shares.
  std::size_t bound(const Bits& open) const {
    std::size_t largest = 0;
    for (const Bits& covers : problem_.covers) largest = std::max(largest, covers.count_in(open));
    const std::size_t by_gain = largest == 0 ? 0 : (open.count() + largest - 1) / largest;
    std::size_t apart = 0;
    std::vector<bool> used(problem_.records.size(), false);
    for (std::size_t i = 0; i < problem_.coverers.size(); ++i) {
      const auto& coverers = problem_.coverers[i];
      if (!open.test(i) ||
          std::any_of(coverers.begin(), coverers.end(), [&](std::size_t r) { return used[r]; }))
        continue;
      for (const std::size_t r : coverers) used[r] = true;
      ++apart;
    }
    return std::max(by_gain, apart);
  }

  void visit(const Bits& open) {
    if (++nodes_ > limit_) return;
    if (open.count() == 0) {
      if (path_.size() >= best_size_) return;
      best_ = path_;
      best_size_ = path_.size();
      improved_ = true;
      return;
    }
    if (path_.size() + bound(open) >= best_size_) return;
    std::vector<Candidate> branches;
    for (const std::size_t r : problem_.coverers[fewest(open)])
      branches.push_back({problem_.covers[r].count_in(open), r});
    std::sort(branches.begin(), branches.end(),
              [](const Candidate& a, const Candidate& b) { return a.before(b); });
    for (const Candidate& branch : branches) {
      path_.push_back(branch.record);
      visit(open.without(problem_.covers[branch.record]));
      path_.pop_back();
      if (nodes_ > limit_) return;
    }
  }

  std::size_t fewest(const Bits& open) const {
    std::size_t best = problem_.coverers.size();
    for (std::size_t i = 0; i < problem_.coverers.size(); ++i) {
      if (open.test(i) &&
          (best == problem_.coverers.size() || problem_.coverers[i].size() < problem_.coverers[best].size()))
        best = i;
    }
    return best;
  }

  const Reduced& problem_;
  std::size_t best_size_, lower_bound_ = 0;
  std::uint64_t limit_, nodes_ = 0;
  bool improved_ = false;
  std::vector<std::size_t> path_, best_;
};

// The same records in greedy order with their gains.
Cover in_order(const CoveredRows& rows, std::vector<std::size_t> records) {
  std::sort(records.begin(), records.end());
  CoveredRows part;
  for (const std::size_t r : records) part.add(rows.row(r));
  Cover cover = greedy_cover(part, records.size());
  for (std::size_t& r : cover.records) r = records[r];
  return cover;
}

}  // namespace

Cover minimise(const CoveredRows& given, const MinimiseOptions& options) {
  const CoveredRows rows = given.canonical();
  Cover cover = greedy_cover(rows, rows.records());
  std::uint64_t largest = 0;
  for (std::size_t r = 0; r < rows.records(); ++r)
    largest = std::max<std::uint64_t>(largest, rows.row(r).size());
  cover.factor = std::max(1.0, harmonic(largest));
  cover.lower_bound = largest == 0 ? 0 : (cover.coverable + largest - 1) / largest;
  if (options.exact && static_cast<std::uint64_t>(rows.records()) <=
                           options.cells / std::max<std::uint64_t>(cover.coverable, 1)) {
    const Reduced problem = Reduction(rows).run();
    Search search(problem, cover.records.size() - problem.chosen.size(), options.nodes);
    search.run();
    if (search.improved()) {
      std::vector<std::size_t> records = problem.chosen;
      for (const std::size_t r : search.best()) records.push_back(problem.records[r]);
      const double factor = cover.factor;
      const std::uint64_t bound = cover.lower_bound;
      cover = in_order(rows, records);
      cover.factor = factor;
      cover.lower_bound = bound;
    }
    cover.nodes = search.nodes();
    cover.lower_bound =
        std::max<std::uint64_t>(cover.lower_bound, problem.chosen.size() + search.lower_bound());
    if (search.complete()) cover.lower_bound = cover.records.size();
  }
  cover.optimal = cover.lower_bound == cover.records.size();
  if (cover.optimal) cover.factor = 1;
  return cover;
}

}  // namespace assay::selection
