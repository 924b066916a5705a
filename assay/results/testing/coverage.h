#pragma once

// Coverage as result documents.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/gate.h>
#include <assay/report.h>
#include <assay/results.h>
#include "assay/results/groups.h"

namespace assay::results {

// The same of a state made of several, whose records no data set at hand knows.
report::Document combined_document_of(const coverage::CoverageState& state, const std::string& subject);

// The records that the figures describe: a hash, that of the data set if they are all of one, and a
// description. `last`: the data set that this run measured.
std::string records_hash(const coverage::CoverageState& state);
std::string records_text(const coverage::CoverageState& state, const Dataset& last);

// A row per layer and m: layer, m, clusters per neuron, covered, coverable, IDC. Empty without IDC.
report::Table idc_table(const coverage::CoverageState& state);

// What the records of each group cover together, of each criterion with items that add up. `items`: of
// Observations, of a walk over the whole data set.
std::vector<FigureByGroup> covered_by_group(const coverage::CoverageState& state,
                                            std::vector<std::vector<std::vector<std::uint64_t>>> items,
                                            std::span<const groups::Group> groups);

// Of the criteria, importance, clusters and attainable items.
std::vector<report::Definition> definitions_of(const coverage::CoverageState& state);

}  // namespace assay::results
