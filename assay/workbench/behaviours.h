#pragma once

#include "assay/workbench/inspector.h"

namespace assay::workbench {

// The relation `behaviours(did, position, symbol, mid, uid, h, value)`: what units (mid and uid, h empty) and
// hypotheses (h, mid and uid empty) do in records. Computed when it is asked, a few records at a time, and
// only for the records, networks, units and hypotheses that conditions leave. `world` must stay as long as
// the database.
void offer_behaviours(Database& database, const OpenWorld& world);

}  // namespace assay::workbench
