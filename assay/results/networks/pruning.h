#pragma once

// Pruned networks as result documents.

#include <assay/report.h>
#include "assay/inspection/units/prune.h"

namespace assay::results {

// Scores before and after, sizes, the units by layer, and the results of as many random units.
report::Document document_of(const inspection::Pruning& pruning, const Graph& network,
                             const inspection::UnitsByLayer& units, bool masked);

}  // namespace assay::results
