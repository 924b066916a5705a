#include <algorithm>
#include <bit>
#include <numeric>

#include <assay/selection.h>
#include "assay/selection/greedy.h"
#include "assay/selection/reduce.h"

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
  Bits without(const Bits& other) const {
    Bits result = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) result.words_[i] &= ~other.words_[i];
    return result;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// State of the search.
struct Reduced {
  std::vector<Bits> covers;                          // of each record left: items left
  std::vector<std::vector<std::uint32_t>> coverers;  // of each item left: positions among the records left

  explicit Reduced(const ReducedProblem& problem)
      : covers(problem.records.size(), Bits(problem.coverers.size())), coverers(problem.coverers) {
    for (std::size_t i = 0; i < coverers.size(); ++i) {
      for (const std::uint32_t r : coverers[i]) covers[r].set(i);
    }
  }
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
    std::vector<bool> used(problem_.covers.size(), false);
    for (std::size_t i = 0; i < problem_.coverers.size(); ++i) {
      const auto& coverers = problem_.coverers[i];
      if (!open.test(i) ||
          std::any_of(coverers.begin(), coverers.end(), [&](std::uint32_t r) { return used[r]; }))
        continue;
      for (const std::uint32_t r : coverers) used[r] = true;
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
    for (const std::uint32_t r : problem_.coverers[fewest(open)])
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

// Without the records of `chosen` whose items the others cover as well, the last first.
std::vector<std::size_t> without_redundant(const CoveredRows& rows, std::vector<std::size_t> chosen) {
  std::vector<std::uint32_t> times(rows.item_limit());
  for (const std::size_t r : chosen) {
    for (const std::uint32_t item : rows.row(r)) ++times[item];
  }
  for (std::size_t i = chosen.size(); i-- > 0;) {
    const auto row = rows.row(chosen[i]);
    if (!std::all_of(row.begin(), row.end(), [&](std::uint32_t item) { return times[item] > 1; })) continue;
    for (const std::uint32_t item : row) --times[item];
    chosen.erase(chosen.begin() + i);
  }
  return chosen;
}

// Reduction, greedy choice among the rest, and the search for fewer where little is left.
Cover reduced_cover(const CoveredRows& rows, const MinimiseOptions& options) {
  const ReducedProblem problem = reduce(rows, options.work);
  std::vector<std::size_t> rest =
      without_redundant(problem.rows, greedy_cover(problem.rows, problem.records.size()).records);
  std::uint64_t bound = fractional_bound(problem), nodes = 0;
  const bool small =
      problem.coverers.empty() || problem.records.size() <= options.cells / problem.coverers.size();
  if (small && bound < rest.size()) {
    const Reduced searched(problem);
    // A subproblem costs about a 64th of records times items.
    const std::uint64_t cells = std::uint64_t{problem.records.size()} * problem.coverers.size();
    Search search(searched, rest.size(), std::min(options.nodes, options.work / (1 + cells / 64)));
    search.run();
    if (search.improved()) rest = search.best();
    nodes = search.nodes();
    bound = search.complete() ? rest.size() : std::max<std::uint64_t>(bound, search.lower_bound());
  }
  std::vector<std::size_t> records = problem.taken;
  for (const std::size_t r : rest) records.push_back(problem.records[r]);
  Cover cover = in_order(rows, records);
  cover.forced = problem.forced;
  cover.nodes = nodes;
  cover.lower_bound = problem.taken.size() + bound;
  return cover;
}

}  // namespace

Cover minimise(const CoveredRows& given, const MinimiseOptions& options) {
  const CoveredRows rows = given.canonical();
  Cover cover = options.exact ? reduced_cover(rows, options) : greedy_cover(rows, rows.records());
  std::uint64_t largest = 0;
  for (std::size_t r = 0; r < rows.records(); ++r)
    largest = std::max<std::uint64_t>(largest, rows.row(r).size());
  const std::uint64_t by_size = largest == 0 ? 0 : (cover.coverable + largest - 1) / largest;
  cover.lower_bound = std::max(cover.lower_bound, by_size);
  cover.optimal = cover.lower_bound == cover.records.size();
  cover.factor = std::max(1.0, harmonic(largest));
  if (options.exact && cover.lower_bound > 0)
    cover.factor = std::min(cover.factor, static_cast<double>(cover.records.size()) / cover.lower_bound);
  if (cover.optimal) cover.factor = 1;
  return cover;
}

}  // namespace assay::selection
