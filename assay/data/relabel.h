#pragma once

// Wrong labels on purpose: the data option relabel= (docs/data.md).

#include <cstdint>
#include <string>
#include <vector>

namespace assay::inline data {

// `rules`: "9>1:0.3" gives 0.3 of the records of class 9 (rounded to whole records) the label 1, chosen at
// random by the seed; without a share, all. Rules see the labels as they were, so "3>8" and "8>3" together
// swap. `names` has the classes by number. Throws Error{usage} naming the rule that is invalid, names no
// class or repeats a class.
void relabel(std::vector<std::int64_t>& labels, const std::vector<std::string>& names,
             const std::vector<std::string>& rules, std::uint64_t seed);

}  // namespace assay::inline data
