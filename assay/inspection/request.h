#pragma once

// What an inspection is asked for: checked before anything is read, and told apart from other requests.

#include <cstdint>
#include <string>
#include <vector>

#include <assay/inspection.h>
#include "assay/inspection/state.h"

namespace assay::inspection {

// Throws Error{usage} where units or measures are missing, names stand twice, or shards cannot be combined.
void check_request(const std::vector<InspectedModel>& models, const std::vector<UnitGroup>& groups,
                   const InspectOptions& options);
// Of each record the first record of the same document, itself without documents. Throws Error{usage} where
// the data have no such characteristic, or nothing would heed it.
std::vector<std::uint32_t> documents_of(const Dataset& dataset, const InspectOptions& options);
// Shards read all their records.
inline bool stops_early(const InspectOptions& options) { return options.stop_early && options.shards == 1; }
// Identity of the request. `hypotheses`: their version. Hashes the data.
InspectionState::Facts facts_of(const std::vector<InspectedModel>& models,
                                const std::vector<UnitGroup>& groups, const Dataset& dataset,
                                const std::string& hypotheses, const InspectOptions& options);

}  // namespace assay::inspection
