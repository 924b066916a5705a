#pragma once

// How far explanations can be believed, as a result document.

#include <vector>

#include <assay/dataset.h>
#include <assay/faithfulness.h>
#include <assay/gate.h>
#include <assay/graph.h>
#include <assay/report.h>

namespace assay::results {

// A row for each method and measure, with intervals, and the points of curves. REQUIRES at least one figure.
report::Document document_of(const relevance::Faithfulness& found, const Graph& network, const Dataset& data);

// Means: deletion[method=epsilon]. A second method or measure of one name is NAME-2.
std::vector<report::Measurement> measurements_of(const relevance::Faithfulness& found);

}  // namespace assay::results
