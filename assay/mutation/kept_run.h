#pragma once

// Mutants judged with their results kept in a file.

#include <filesystem>
#include <vector>

#include <assay/mutation.h>

namespace assay::mutation {

struct KeptRun {
  std::filesystem::path state;  // results go here, with a journal next to it; empty: nowhere
  bool anew = false;            // what the file knows already is run again
};

// run_mutants(), with what `drawn` says does not apply added to the state, which is sorted and written. What
// the file knows for this network is not run again. Only the first rank returns.
MutationState run_kept(const Session& session, const std::vector<PlannedMutant>& mutants,
                       const std::vector<NotApplicable>& not_applicable, const DatasetPtr& test,
                       RunOptions options, const KeptRun& kept, RunFigures& figures, Progress& progress);

// Where the results of run_kept() are noted while it runs.
std::filesystem::path journal_of(const std::filesystem::path& state);

}  // namespace assay::mutation
