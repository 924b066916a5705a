#pragma once

// Chosen records, as a result document.

#include <string>

#include <assay/report.h>
#include "assay/coverage/select.h"

namespace assay::results {

// How many were chosen, the first of them, what they cover or how early they find faults.
report::Document document_of(const coverage::Selection& selection, const coverage::SelectOptions& options,
                             const Dataset& test);
// Says that the choice counts what the state in this file does not cover.
void add_beyond(report::Document& document, const coverage::Selection& selection, const std::string& state);

}  // namespace assay::results
