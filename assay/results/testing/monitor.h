#pragma once

// A monitor and what it detects, as a result document.

#include <span>
#include <vector>

#include <assay/gate.h>
#include <assay/monitor.h>
#include <assay/report.h>

namespace assay::results {

report::Document document_of(const monitor::Monitor& made, const monitor::Detection& false_alarms,
                             std::span<const monitor::Detection> found, const Graph& network,
                             const Dataset& usual);
// false-alarms, and detection[of=NAME] and auroc[of=NAME] of what is foreign; names without what gates cannot
// write: a number for each.
std::vector<report::Measurement> measurements_of(const monitor::Detection& false_alarms,
                                                 std::span<const monitor::Detection> found);

}  // namespace assay::results
