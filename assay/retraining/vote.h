#pragma once

// Labels for records that nobody has labelled: what most of several networks say.

#include <cstdint>
#include <span>
#include <vector>

#include "assay/engine/session.h"
#include "assay/support/progress.h"

namespace assay {

struct Vote {
  std::vector<std::size_t> records;   // positions of those with a majority, ascending
  std::vector<std::int64_t> labels;   // of those
  std::size_t dropped = 0;            // records without: they are never guessed
};

// ballots[network][record]: the class named. A class has the majority when more than half of the networks name it (of three,
// two). Throws Error{usage} for fewer than three networks: two either agree or tie.
Vote majority_vote(const std::vector<std::vector<std::int64_t>>& ballots);

// The same with what the networks say. Throws Error{mismatch} when one of them is no classifier.
Vote majority_vote(std::span<const Session> networks, const DatasetPtr& dataset, Progress& progress);

}  // namespace assay
