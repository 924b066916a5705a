#include "assay/mutation/source/trained_mutants.h"

#include <assay/error.h>

namespace assay::mutation {
namespace {

TrainingJob job_of(const Program& program, const Subject& subject, const Mutant& mutant) {
  return {.what = mutant.text(), .mutant = mutant, .make = [&program, &subject, mutant] {
            return apply(program, subject, mutant).program;
          }};
}

// `failed` begins the message about a network that cannot be trained.
Graph trained_network(const TrainingJob& job, const TrainingPlan& plan, const std::string& failed,
                      Progress& progress) {
  const Trained trained = train_programs({job}, plan, progress).front();
  if (!trained.failure.empty()) fail(Fault::data, "{}: {}", failed, trained.failure);
  std::optional<Graph> network = TrainedStore(plan.store).find(trained.key);
  if (!network) fail(Fault::io, "{}: what was just kept there is gone", plan.store.string());
  return std::move(*network);
}

bool is_pruned(const TrainedStore::Entry& entry, const std::string& what) {
  using Status = TrainedStore::Status;
  return what == "all" || (what == "failed" && entry.status == Status::failed) ||
         (what == "unfinished" && entry.status == Status::unfinished) ||
         (what == "damaged" && entry.status == Status::damaged);
}

}  // namespace

Graph train_original(const Program& program, const TrainingPlan& plan, Progress& progress) {
  return trained_network({.what = "original", .mutant = {}, .make = [&program] { return program; }}, plan,
                         "the network without a fault cannot be trained", progress);
}

Graph train_mutant(const Program& program, const Subject& subject, const Mutant& mutant,
                   const TrainingPlan& plan, Progress& progress) {
  return trained_network(job_of(program, subject, mutant), plan, mutant.text(), progress);
}

TrainedMutants train_mutants(const Program& program, const Subject& subject,
                             const std::vector<Mutant>& mutants, const TrainingPlan& plan,
                             Progress& progress) {
  std::vector<TrainingJob> jobs;
  for (const Mutant& mutant : mutants) jobs.push_back(job_of(program, subject, mutant));
  TrainedMutants result{train_programs(jobs, plan, progress), {}};
  const auto store = std::make_shared<const TrainedStore>(plan.store);
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    if (!result.trained[i].failure.empty()) continue;
    result.planned.push_back(
        planned(store, mutants[i], apply(program, subject, mutants[i]), result.trained[i]));
  }
  return result;
}

std::set<std::string> not_killed(const Session& original, const std::vector<PlannedMutant>& mutants,
                                 const DatasetPtr& records, const RunOptions& judged_by, Progress& progress) {
  RunOptions options;
  options.margin = judged_by.margin;
  options.task = judged_by.task;
  options.quality = 0;  // one killing record is enough
  options.batch = judged_by.batch;
  RunFigures figures;
  const MutationState state = run_mutants(original, mutants, records, options, nullptr, figures, progress);
  std::set<std::string> keys;
  for (const MutantOutcome& mutant : state.mutants())
    if (mutant.killed.count() == 0) keys.insert(mutant.key());
  return keys;
}

const std::vector<std::string>& prunable_entries() {
  static const std::vector<std::string> kinds{"failed", "unfinished", "damaged", "all"};
  return kinds;
}

PrunedStore prune_store(const TrainedStore& store, const std::string& what) {
  PrunedStore result;
  for (TrainedStore::Entry& entry : store.list(true)) {
    if (!is_pruned(entry, what)) {
      result.kept.push_back(std::move(entry));
      continue;
    }
    store.remove(entry.key);
    ++result.removed;
  }
  return result;
}

}  // namespace assay::mutation
