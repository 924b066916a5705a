#pragma once

// Additions that raise coverage: those of the candidates that cover what a test set does not (DeepImportance,
// RQ6).

#include <cstdint>
#include <memory>
#include <vector>

#include <assay/coverage_state.h>
#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::retraining {

struct Raising {
  std::vector<std::size_t> records;  // positions in the candidates, in the order of choice
  std::vector<std::uint64_t> gain;   // items that each adds to the test set and those before it; never 0
  std::uint64_t before = 0;          // items that the test set covers
  std::uint64_t available = 0;       // items that all candidates add
};

// Chooses greedily at most `count` candidates, each time the one that adds most items of the criterion, until
// none adds any. Throws Error{usage} for a criterion without items that records cover one by one.
Raising coverage_raising(const Session& session, const std::shared_ptr<const coverage::Profile>& profile,
                         const coverage::CriterionChoice& criterion, const DatasetPtr& test,
                         const DatasetPtr& candidates, std::size_t count, std::size_t batch,
                         Progress& progress);

}  // namespace assay::retraining
