#pragma once

// Choosing records by the items they cover (docs/algorithms/selection.md). Ties always go to the lowest index, so every
// result is determined by the rows alone.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/selection/rows.h"

namespace assay {

struct Cover {
  std::vector<std::size_t> records;    // in the order of choice
  std::vector<std::uint64_t> gain;     // items that each adds to those before it
  std::uint64_t covered = 0, coverable = 0;
  // minimise(): at most `factor` times as many records as the smallest subset. budgeted(): at least `factor` times as many
  // items as the best subset of that size.
  double factor = 1;
  std::uint64_t lower_bound = 0;       // minimise(): no subset with fewer records covers everything
  bool optimal = false;                // proven to be the smallest (minimise)
  std::uint64_t nodes = 0;             // subproblems looked at by the exact search
};

struct MinimiseOptions {
  bool exact = true;                   // search for the optimum where the reduced problem is small
  std::uint64_t nodes = 200'000;       // the search gives up after so many subproblems
  std::uint64_t cells = 1 << 24;       // ... and is not begun with more records times items than this
};

// A small set of records that covers everything that all cover. Greedy (Chvatal 1979) with lazy evaluation (Minoux 1978):
// factor H(n), n items in the largest row, 1 + 1/2 + ... + 1/n; then, where it is small, branch and bound.
Cover minimise(const CoveredRows& rows, const MinimiseOptions& options = {});

// At most `budget` records that cover much: factor 1 - 1/e (Nemhauser, Wolsey and Fisher 1978). Stops early when nothing
// is left to gain.
Cover budgeted(const CoveredRows& rows, std::size_t budget);

// All records by additional coverage (Rothermel et al. 2001; Yoo and Harman 2012): when those chosen cover all that the
// remaining can, the count starts anew with the remaining. Records that cover nothing come last, by index.
std::vector<std::size_t> order_additional(const CoveredRows& rows);

// H(n) = 1 + 1/2 + ... + 1/n; 0 for n = 0.
double harmonic(std::uint64_t n);

}  // namespace assay
