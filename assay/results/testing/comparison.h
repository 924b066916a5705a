#pragma once

// Two coverage states compared, as a result document.

#include <assay/report.h>
#include "assay/coverage/compare.h"

namespace assay::results {

// Items, measures, neurons and records that tell `here` and `there` apart; at most `most` neurons per
// criterion and layer, and records per state.
report::Document document_of(const coverage::Comparison& comparison, const coverage::CoverageState& here,
                             const coverage::CoverageState& there, std::size_t most);

}  // namespace assay::results
