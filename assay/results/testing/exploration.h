#pragma once

// Explorations as result documents and pictures.

#include <filesystem>
#include <optional>
#include <vector>

#include <assay/report.h>
#include "assay/explore/finding_set.h"
#include "assay/explore/plausibility.h"

namespace assay::results {

// All rows about one.
struct ExplorationResult {
  const std::vector<explore::ExploredNetwork>& networks;
  const Dataset& seeds;
  const explore::Exploration& exploration;
  const explore::StoredFindings& stored;
  std::optional<explore::Plausibility> plausibility;
};

// Networks, endings, answers, rounds and findings. `options`: those of the exploration.
report::Document document_of(const ExplorationResult& result, const explore::ExploreOptions& options);

// Before, after and difference of up to `count` findings as pictures in the folder, the most different
// answers first met first; none where records are not pictures.
std::vector<report::Picture> draw_findings(const ExplorationResult& result, std::size_t count,
                                           const std::filesystem::path& folder);

}  // namespace assay::results
