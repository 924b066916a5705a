#pragma once

// The list of findings of an exploration, written next to their records.

#include <filesystem>
#include <vector>

#include "assay/explore/finding_set.h"
#include "assay/explore/plausibility.h"

namespace assay::explore {

// JSON with one entry for each finding: seed, answers of each network, label, distances, coverage gained and,
// with `plausibility` (may be null), surprise. Throws Error{io}.
void write_manifest(const std::vector<ExploredNetwork>& networks, const Dataset& seeds,
                    const std::vector<Finding>& findings, const StoredFindings& stored,
                    const Plausibility* plausibility, const std::filesystem::path& file);

}  // namespace assay::explore
