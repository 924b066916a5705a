#pragma once

// The structure of a network, as a result document.

#include <optional>
#include <vector>

#include <assay/report.h>
#include <assay/session.h>

namespace assay::results {

// Layers, neurons, parameters and warnings. `dead`: of find_dead_neurons() for all layers, where records were
// looked at.
report::Document document_of(const Session& session,
                             const std::optional<std::vector<std::vector<std::size_t>>>& dead = {});

// Adds a table of how a forward pass runs, segment by segment: which back end, how many microseconds a record
// is expected to take on one thread and, when `measured`, takes with the session's threads (best of several
// runs of sample records), and the share of the peak multiplication rate of these threads, measured now.
// Convolutions with fewer products than their definition may show more than 100 %.
void add_plan(report::Document& document, const Session& session, bool measured);

}  // namespace assay::results
