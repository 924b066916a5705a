#pragma once

// What a network consists of, as a result document.

#include <optional>
#include <vector>

#include <assay/report.h>
#include <assay/session.h>

namespace assay::results {

// Layers, neurons, parameters and warnings. `dead`: of find_dead_neurons() for all layers, where records were
// looked at.
report::Document document_of(const Session& session,
                             const std::optional<std::vector<std::vector<std::size_t>>>& dead = {});

}  // namespace assay::results
