#pragma once

// What coverage says, as a result document.

#include <string>
#include <vector>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/gate.h>
#include <assay/report.h>
#include <assay/results.h>

namespace assay::results {

// The same of a state made of several, whose records no data set at hand knows.
report::Document combined_document_of(const coverage::CoverageState& state, const std::string& subject);

// Which records the figures are of: a hash, that of the data set where they are all of one, and in words.
// `last`: the data set that this run measured.
std::string records_hash(const coverage::CoverageState& state);
std::string records_text(const coverage::CoverageState& state, const Dataset& last);

// A row per layer and m: layer, m, clusters per neuron, covered, coverable, IDC. Empty without IDC.
report::Table idc_table(const coverage::CoverageState& state);

// Of the criteria, importance, clusters and attainable items.
std::vector<report::Definition> definitions_of(const coverage::CoverageState& state);

}  // namespace assay::results
