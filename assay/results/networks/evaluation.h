#pragma once

// Evaluations of networks as result documents.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/evaluate.h>
#include <assay/gate.h>
#include <assay/graph.h>
#include <assay/report.h>
#include <assay/results.h>
#include "assay/results/groups.h"

namespace assay::results {

// Accuracy or mean squared error as facts about the data set `which` ("test").
void add_scores(report::Document& document, const Evaluation& evaluation, const std::string& which);

// For gates: accuracy (over all and by class), or mean-squared-error, and by target mean-squared-error,
// mean-absolute-error and greatest-error[target=N], of which less is better.
std::vector<report::Measurement> measurements_of(const Evaluation& evaluation, const Dataset& data);

// Right records, or squared errors, by group; nothing without labels and targets. `found`: of these groups.
std::optional<FigureByGroup> by_group(const PartsEvaluation& found, const Dataset& data,
                                      std::span<const groups::Group> groups);

// The figures of measurements_of() of each group.
std::vector<report::Measurement> measurements_of(const PartsEvaluation& found, const Dataset& data,
                                                 std::span<const groups::Group> groups);

}  // namespace assay::results
