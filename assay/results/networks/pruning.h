#pragma once

// What a network is without some of its units, as a result document.

#include <assay/report.h>
#include "assay/inspection/units/prune.h"

namespace assay::results {

// Scores before and after, sizes, the units by layer, and what random choices of as many come to.
report::Document document_of(const inspection::Pruning& pruning, const Graph& network,
                             const inspection::UnitsByLayer& units, bool masked);

}  // namespace assay::results
