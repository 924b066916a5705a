#pragma once

// Which pairs of characteristics a result keeps. They multiply: of three characteristics with 64 values each
// there are ten thousand, and several figures of each.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <assay/dataset.h>
#include <assay/gate.h>
#include <assay/groups.h>
#include <assay/report.h>
#include "assay/results/groups.h"

namespace assay::results {

// Of each figure and each two characteristics the worst so many; 0: all. Nothing: the usual number.
using PairLimit = std::optional<std::size_t>;

// Throws Error{usage} where a number is given and the data have no pairs.
void check_pairs(PairLimit limit, const Dataset& data);

struct KeptGroups {
  std::vector<groups::Group> groups;
  std::vector<FigureByGroup> figures;
};
// All single values, the pairs that are among the worst of their two characteristics by any figure, and those
// that are worse than all others beyond chance.
KeptGroups kept_groups(std::span<const groups::Group> groups, std::span<const FigureByGroup> figures,
                       PairLimit limit);

// The same of figures for gates, whose contexts are groups: for each criterion the worst pairs of each two
// characteristics, and so many
// of which nothing is known.
std::vector<report::Measurement> kept_figures(std::span<const report::Measurement> figures,
                                              std::span<const groups::Group> groups, PairLimit limit);

// Says how many pairs are not in the result.
void tell_left_out(report::Document& document, std::span<const groups::Group> groups, PairLimit limit);

}  // namespace assay::results
