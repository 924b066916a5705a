#pragma once

// Records on which networks disagree: networks read or made as mutants of the first, profiles learned or
// read, the search, and its findings stored, judged and reported.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <assay/explore.h>
#include <assay/report.h>
#include "assay/answers/setting.h"
#include "assay/engine/preparation/adaptation.h"

namespace assay::answers {

// Several networks for one task, and what is usual for their neurons.
struct SeveralNetworks {
  std::vector<std::string> files = {};
  std::vector<std::string> mutants = {};   // of the first, as mutation::make_mutant() reads them
  AdaptOptions adaptation = {};            // of those from files
  std::vector<std::string> profiles = {};  // files, one of each network; none: they are learned, ...
  DatasetPtr training = {};                // ... from these records, or where there are none from the seeds
  std::vector<std::string> units = {};  // that alone count, as results::chosen_units() reads them; none: all
};

struct ExplorationQuestion {
  std::string task = {};  // spec of a task; empty: the one that the first network and the seeds have
  SeveralNetworks networks = {};
  std::vector<std::string> constraints = {};  // specs; none: "light" of pictures; "none" is none
  std::string criterion = "nc[threshold=0.25]";
  std::string storage = {};                   // "levels" or "float"; empty: levels of pictures
  std::string plausibility = {};              // "dsa", "lsa" or "none"; empty: as training records allow
  std::optional<double> near_duplicate = {};  // as in ExploreOptions; nothing: its default, of pictures
  std::string folder = {};                    // where findings, and until they are there the journal, go
  std::size_t pictures = 24;                  // of findings
  explore::ExploreOptions options = {};       // without what stands above
};

// Where an exploration into a folder is noted while it runs.
std::filesystem::path exploration_journal(const std::filesystem::path& folder);

// Only the first rank returns.
report::Document explore(const DatasetPtr& seeds, const ExplorationQuestion& question, const Setting& setting,
                         Progress& progress);

}  // namespace assay::answers
