#pragma once

// Internal: what can be decided exactly about a covering problem before anything is chosen greedily.

#include <assay/selection.h>

namespace assay::selection {

struct ReducedProblem {
  std::vector<std::size_t> taken;    // records that are in a smallest covering subset; ascending
  std::size_t forced = 0;            // of the given problem: records that alone cover something
  std::vector<std::size_t> records;  // those left, ascending
  CoveredRows rows;                  // what they still have to cover, items numbered densely; no row is empty
  // Of each item left: positions in `records`, ascending.
  std::vector<std::vector<std::uint32_t>> coverers;
};

// Reductions that keep a smallest subset, until none applies or `work` comparisons of items are done: a
// record that alone covers an item is taken; an item whose coverers include all of another's is dropped; a
// record whose items are all in another's is dropped (Balas and Ho 1980). REQUIRES: canonical rows.
ReducedProblem reduce(const CoveredRows& rows, std::uint64_t work);

// No fewer records cover all that is left: the value of a feasible solution of the dual linear program,
// rounded up. Each item gets a price such that no record holds more than 1; prices then rise while they can.
std::uint64_t fractional_bound(const ReducedProblem& problem);

}  // namespace assay::selection
