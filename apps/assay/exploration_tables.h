#pragma once

// Tables, manifest and pictures of an exploration.

#include <filesystem>
#include <optional>

#include "apps/assay/command.h"
#include "assay/explore/finding_set.h"
#include "assay/explore/plausibility.h"

namespace assay::app {

// Everything there is to tell of one.
struct ExplorationResult {
  const std::vector<ExploredNetwork>& networks;
  const Dataset& seeds;
  const Exploration& exploration;
  const StoredFindings& stored;
  std::optional<Plausibility> plausibility;
};

void describe(Document& document, const ExplorationResult& result);

// One entry for each finding: seed, answers of each network, label, distances, coverage gained, surprise.
void write_manifest(const ExplorationResult& result, const std::filesystem::path& file);

// Before, after and difference of up to `count` findings, the most different answers first met first.
std::vector<Picture> draw_findings(const ExplorationResult& result, std::size_t count, const std::filesystem::path& folder);

}  // namespace assay::app
