#pragma once

// How well a network does on data, as a result document.

#include <string>

#include <assay/dataset.h>
#include <assay/evaluate.h>
#include <assay/graph.h>
#include <assay/report.h>
#include <assay/results.h>

namespace assay::results {

// Accuracy or mean squared error as facts about the data set `which` ("test"), and a notice about outputs
// that are not finite.
void add_scores(report::Document& document, const Evaluation& evaluation, const std::string& which);

}  // namespace assay::results
