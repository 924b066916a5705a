#pragma once

// Evaluations of networks with several decisions a record, as result documents.

#include <span>
#include <vector>

#include <assay/dataset.h>
#include <assay/gate.h>
#include <assay/graph.h>
#include <assay/report.h>
#include <assay/task.h>
#include "assay/results/groups.h"

namespace assay::results {

// Figures with intervals, by class, what is confused most often, and the worst records.
report::Document document_of(const task::ItemEvaluation& evaluation, const Graph& network,
                             const Dataset& data);

// One for each figure, for gates: mean-iou, iou[class=road].
std::vector<report::Measurement> measurements_of(const task::ItemEvaluation& evaluation);

// Classes that the labels do not have, where means are taken over classes, and records without items that
// count.
std::vector<report::Warning> item_warnings(const task::PartsItemEvaluation& found, const Dataset& data);

// Right items of those that count, by group. `found`: of these groups.
FigureByGroup by_group(const task::PartsItemEvaluation& found, std::span<const groups::Group> groups);

// The figures of measurements_of() of each group.
std::vector<report::Measurement> measurements_of(const task::PartsItemEvaluation& found,
                                                 std::span<const groups::Group> groups);

}  // namespace assay::results
