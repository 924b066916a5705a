#pragma once

// Two coverage states side by side: what one covers and the other does not, down to neurons and records.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <assay/coverage_state.h>
#include <assay/extend/abilities.h>

namespace assay::coverage {

// One criterion that both states have measured.
struct ComparedCriterion {
  std::string name;                     // its spec as text
  std::vector<Coverage> before, after;  // what each state covers
  std::vector<Difference> layers;
};

// A record that was the first to cover something that the other state does not.
struct ComparedRecord {
  bool here = true;  // of the first state
  std::size_t record = 0;
  std::uint64_t items = 0;
  std::map<std::string, std::uint64_t> by_criterion;
};

struct Comparison {
  std::vector<ComparedCriterion> criteria;
  std::vector<ComparedRecord> records;  // most items first
  std::uint64_t only_here = 0, only_there = 0;
  std::vector<Spec> unmatched_here,
      unmatched_there;  // criteria that one state has measured and not the other
};

// At most `examples` items are given per layer and side.
Comparison compare(const CoverageState& here, const CoverageState& there, std::size_t examples);

}  // namespace assay::coverage
