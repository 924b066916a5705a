#pragma once

// Coverage measured by several processes.

#include <nlohmann/json.hpp>

#include <assay/coverage.h>
#include "assay/support/files/journal.h"

namespace assay::coverage {

// As measure(), by all ranks, or going on with what several ranks have left. `found`: {"base": what the
// journal of a single process holds, "parts": those of ranks}, on the first rank; `journal`: null where none
// is kept.
Observations measure_shared(const Session& session, CoverageState& state, DatasetPtr test,
                            const MeasureOptions& options, const JournalKey& key, const nlohmann::json& found,
                            Journal* journal, Progress& progress);

}  // namespace assay::coverage
