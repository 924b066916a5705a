#pragma once

// A program and its mutants as trained networks in a store, ready to be judged.

#include <set>
#include <string>
#include <vector>

#include <assay/source_mutation.h>

namespace assay::mutation {

// The network trained without a fault. Throws Error{data} where it cannot be trained, with the reason.
Graph train_original(const Program& program, const TrainingPlan& plan, Progress& progress);

// One mutant's network; the subject is that of the program's graph. Throws Error{data} likewise.
Graph train_mutant(const Program& program, const Subject& subject, const Mutant& mutant,
                   const TrainingPlan& plan, Progress& progress);

struct TrainedMutants {
  std::vector<Trained> trained;        // one for each mutant
  std::vector<PlannedMutant> planned;  // of those that have a network
};
// Failures are reported in `trained`.
TrainedMutants train_mutants(const Program& program, const Subject& subject,
                             const std::vector<Mutant>& mutants, const TrainingPlan& plan,
                             Progress& progress);

// Keys of mutants that no record kills, judged by margin and task as the options say: DeepCrime does not
// count those that the training data do not kill.
std::set<std::string> not_killed(const Session& original, const std::vector<PlannedMutant>& mutants,
                                 const DatasetPtr& records, const RunOptions& judged_by, Progress& progress);

// "failed", "unfinished", "damaged", "all".
const std::vector<std::string>& prunable_entries();

struct PrunedStore {
  std::vector<TrainedStore::Entry> kept;
  std::size_t removed = 0;
};
// Removes the entries of one of these kinds, or none where `what` is empty.
PrunedStore prune_store(const TrainedStore& store, const std::string& what);

}  // namespace assay::mutation
