#pragma once

// A test set extended by attacked records, as part of a result document.

#include <span>

#include <assay/report.h>
#include "assay/attack/extension.h"

namespace assay::results {

// The coverage of the test set, and with the records of each attack next to it. `state`: of the test set.
report::Document document_of(const coverage::CoverageState& state,
                             std::span<const attack::Extension> extensions);

}  // namespace assay::results
