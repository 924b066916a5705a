#pragma once

// Mutants that are killed by a figure of the whole test set, where records have many items.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <assay/extend/task.h>
#include <assay/mutation.h>

namespace assay::mutation {

struct FigureOptions {
  std::string figure;  // "mean-iou", "iou[class=road]"
  double margin = 0;   // killed where the figure is worse than the original's by more than this
  std::size_t batch = 0;
};

struct FigureOutcome {
  MutantOutcome mutant;
  std::optional<double> value;  // nothing: the mutant has no such figure, which kills
  double worse = 0;             // by how much; infinite without a value
  bool killed = false;
};

struct FigureKilling {
  std::string figure;  // as it was asked for
  bool share = true;   // is shown in per cent
  double original = 0, margin = 0;
  std::vector<FigureOutcome> mutants;
  std::size_t killed() const;
};

// One pass over the data for each mutant. Throws Error{usage} for a figure that the task does not have or
// that the original has no value of.
FigureKilling kill_by_figure(const Session& session, const std::vector<PlannedMutant>& mutants,
                             const DatasetPtr& dataset, const task::Task& task, const FigureOptions& options,
                             Progress& progress);

}  // namespace assay::mutation
