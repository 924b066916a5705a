#pragma once

// Outcomes of searches as bytes: for the other ranks, and for a run that goes on where one was interrupted.

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <assay/explore.h>
#include "assay/explore/search.h"
#include "assay/support/ranks/shared_journal.h"

namespace assay::explore {

// `levels`: points are kept as 8-bit levels. `like`: a record as it is searched. The second throws
// std::exception for what the first did not write.
nlohmann::json json_of(std::size_t pass, const SearchOutcome& outcome, bool levels);
SearchOutcome outcome_from(const nlohmann::json& json, const Array& like, bool levels);

// The journal of an exploration, if its options name a file.
class SearchJournal {
 public:
  // Reads what is there. Throws Error{mismatch} for the journal of another exploration, Error{data} for what
  // is none.
  SearchJournal(const std::vector<ExploredNetwork>& networks, const Dataset& seeds,
                const ExploreOptions& options, Progress& progress);

  bool is_kept() const { return journal_.has_value(); }
  // What an earlier run has found from a seed in this pass.
  std::optional<SearchOutcome> known(std::size_t pass, std::size_t seed, const Array& like) const;
  // By the first rank.
  void note(std::size_t pass, const SearchOutcome& outcome);

 private:
  bool levels_;
  std::optional<SharedJournal> journal_;
  std::map<std::pair<std::size_t, std::size_t>, nlohmann::json> known_;  // by pass and seed
};

}  // namespace assay::explore
