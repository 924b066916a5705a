#pragma once

// Mutants that figures kill, as a result document.

#include <vector>

#include <assay/gate.h>
#include <assay/report.h>
#include "assay/mutation/figure_killing.h"

namespace assay::results {

report::Document document_of(const mutation::FigureKilling& killing, const std::string& network);
std::vector<report::Measurement> measurements_of(const mutation::FigureKilling& killing);

}  // namespace assay::results
