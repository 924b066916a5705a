#pragma once

// Figures of a task and the outputs that they are of, from one pass.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <assay/evaluate.h>
#include <assay/task.h>

namespace assay::task {

struct PredictedItemEvaluation {
  PartsItemEvaluation found;
  Predictions predictions;  // complete on the first rank
};

// As evaluate_parts() and predict() have them. Throws as these.
PredictedItemEvaluation evaluate_and_predict(const Session& session, const DatasetPtr& dataset,
                                             const Task& task,
                                             const std::vector<std::vector<std::size_t>>& parts,
                                             const WalkOptions& options, Progress& progress,
                                             std::uint64_t seed = 1);

}  // namespace assay::task
