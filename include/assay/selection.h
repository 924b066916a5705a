#pragma once

// Choosing and ordering the records of a test set: by the items they cover, by a score, and how early an
// order finds the faults (docs/algorithms/selection.md). Ties always go to the lowest index, so every result
// is determined by what is given alone.

#include <assay/extend/catalogue.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::selection {

// The items that each record of a test set covers, as compressed rows.
struct CoveredRows {
  // Record r covers items[begin[r]] up to items[begin[r + 1]]; begin has one entry more than there are
  // records.
  std::vector<std::uint64_t> begin = {0};
  std::vector<std::uint32_t>
      items;  // dense ids work best: memory is proportional to the greatest; order does not matter

  std::size_t records() const { return begin.size() - 1; }
  std::span<const std::uint32_t> row(std::size_t record) const {
    return std::span(items).subspan(begin[record], begin[record + 1] - begin[record]);
  }
  void add(std::span<const std::uint32_t> row);
  std::uint64_t item_limit() const;  // one more than the greatest id

  // The same with every row ascending and free of repetitions; in place where it is not needed any more.
  // Throws Error{data} when `begin` does not describe rows. O(entries log entries).
  CoveredRows canonical() const&;
  CoveredRows canonical() &&;
};

struct Cover {
  std::vector<std::size_t> records;  // in the order of choice
  std::vector<std::uint64_t> gain;   // items that each adds to those before it
  std::uint64_t covered = 0, coverable = 0;
  // minimise(): at most `factor` times as many records as the smallest subset. budgeted(): at least `factor`
  // times as many items as the best subset of that size.
  double factor = 1;
  std::uint64_t forced = 0;       // minimise(): records that alone cover something, in every covering subset
  std::uint64_t lower_bound = 0;  // minimise(): no subset with fewer records covers everything
  bool optimal = false;           // proven to be the smallest (minimise)
  std::uint64_t nodes = 0;        // subproblems looked at by the exact search
};

struct MinimiseOptions {
  bool exact = true;                   // reduce, and search for the optimum where what is left is small
  std::uint64_t nodes = 200'000;       // the search gives up after so many subproblems
  std::uint64_t cells = 1 << 22;       // ... and is not begun with more records times items left than this
  std::uint64_t work = 1'000'000'000;  // comparisons of items after which no more is looked for to reduce
};

// A small set of records that covers everything that all cover. What every smallest subset may contain is
// taken and what none needs is dropped first, exactly; the rest greedily (Chvatal 1979): factor H(n), n items
// in the largest row, 1 + 1/2 + ... + 1/n; records that the others make redundant are dropped; then, where it
// is small, branch and bound. The lower bound is the number of forced records and a fractional bound of the
// rest (a feasible solution of the dual linear program).
Cover minimise(const CoveredRows& rows, const MinimiseOptions& options = {});

// At most `budget` records that cover much: factor 1 - 1/e (Nemhauser, Wolsey and Fisher 1978). Stops early
// when nothing is left to gain.
Cover budgeted(CoveredRows rows, std::size_t budget);

// All records by additional coverage (Rothermel et al. 2001; Yoo and Harman 2012): when those chosen cover
// all that the remaining can, the count starts again with the remaining. Records that cover nothing come
// last, by index. No more than `most` are put in order. 8 bytes an entry of the rows where they are moved
// here; O(entries) a round.
std::vector<std::size_t> order_additional(CoveredRows rows,
                                          std::size_t most = std::numeric_limits<std::size_t>::max());

// H(n) = 1 + 1/2 + ... + 1/n; 0 for n = 0.
double harmonic(std::uint64_t n);

// How doubtful a classifier is about a record; larger means test it earlier. From softmax probabilities,
// summed in float64.
struct Doubt {
  std::string name;  // "deepgini"
  std::string formula, source;
  std::function<double(std::span<const float> probabilities)> score;
};

// deepgini, entropy, margin, max-softmax. A NaN among the probabilities gives NaN.
Catalogue<Doubt>& doubts();

// Orders by one number per record: the output of a classifier or any score.
struct ScoreOrder {
  std::vector<std::size_t> order;  // records by falling score; equal ones by index
  std::size_t undefined = 0;  // so many of the first are NaN: nothing is known of them, so they come first
};
ScoreOrder order_by_score(std::span<const double> scores);

// A random permutation, determined by the seed.
std::vector<std::size_t> order_random(std::size_t records, std::uint64_t seed);

// How early an order of tests finds the faults: average percentage of faults detected (Rothermel et al.
// 2001), every misclassified record being a separate fault, as in Feng et al. 2020.
struct Apfd {
  // 1 - (sum of the faults' 1-based places) / (faults * tests) + 1 / (2 * tests); nothing without faults or
  // tests.
  std::optional<double> value;
  // With the faults first: the maximum of all orders.
  std::optional<double> greatest;
  std::size_t faults = 0, tests = 0;
  // Fraction of the tests run, fraction of the faults found, from (0, 0) to (1, 1), wherever the slope
  // changes. The area under these points, joined by straight lines, is `value`. Empty where that is
  // undefined.
  std::vector<std::pair<double, double>> curve;
};

// `order`: a permutation of the records; `fault`: for each record whether it reveals one. Throws Error{usage}
// for an order that leaves out or repeats records. O(records).
Apfd apfd(std::span<const std::size_t> order, const std::vector<bool>& fault);

}  // namespace assay::selection
