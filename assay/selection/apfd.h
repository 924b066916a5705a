#pragma once

// How early an order of tests finds the faults: average percentage of faults detected (Rothermel et al. 2001), every
// misclassified record being a fault of its own, as in Feng et al. 2020.

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay {

struct Apfd {
  // 1 - (sum of the faults' 1-based places) / (faults * tests) + 1 / (2 * tests); nothing without faults or tests.
  std::optional<double> value;
  // With the faults first: what no order exceeds.
  std::optional<double> greatest;
  std::size_t faults = 0, tests = 0;
  // Fraction of the tests run, fraction of the faults found, from (0, 0) to (1, 1), wherever the slope changes. The area
  // under these points, joined by straight lines, is `value`. Empty where that is undefined.
  std::vector<std::pair<double, double>> curve;
};

// `order`: a permutation of the records; `fault`: for each record whether it reveals one. Throws Error{usage} for an order
// that leaves out or repeats records. O(records).
Apfd apfd(std::span<const std::size_t> order, const std::vector<bool>& fault);

}  // namespace assay
