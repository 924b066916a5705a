#pragma once

// Whether networks can be explored together, and on which records.

#include <vector>

#include <assay/dataset.h>
#include <assay/explore.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/constraint.h>

namespace assay::explore {

// The networks. Throws Error{usage} for fewer than two, and for options that fit no search.
const std::vector<ExploredNetwork>& comparable(const std::vector<ExploredNetwork>& networks,
                                               const ExploreOptions& options);
// As many classes as the first network, or as many numbers as the data have targets; else Error{mismatch}.
void require_same_task(const ExploredNetwork& first, const ExploredNetwork& network, const Dataset& seeds,
                       const ExploreOptions& options);
// Of 256 levels of the valid range, those that a constraint wants whole must be some; else Error{usage}.
// `record`: the shape of a record.
void require_levels_of_whole_numbers(const Constraint& constraint, const attack::InputUnits& units,
                                     const Shape& record);

}  // namespace assay::explore
