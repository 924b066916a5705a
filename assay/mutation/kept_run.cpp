#include "assay/mutation/kept_run.h"

#include <optional>
#include <string>

#include "assay/support/files/file_lock.h"
#include "assay/support/files/journal.h"
#include "assay/support/ranks/ranks.h"

namespace assay::mutation {

MutationState run_kept(const Session& session, const std::vector<PlannedMutant>& mutants,
                       const std::vector<NotApplicable>& not_applicable, const DatasetPtr& test,
                       RunOptions options, const KeptRun& kept, RunFigures& figures, Progress& progress) {
  std::optional<FileLock> lock;
  std::optional<MutationState> earlier;
  if (!kept.state.empty()) {
    if (ranks().first()) lock.emplace(kept.state);
    std::string taken;
    ranks().broadcast(taken);  // the others read after that
    options.journal = journal_of(kept.state);
    if (std::filesystem::exists(kept.state) && !kept.anew) earlier = MutationState::read(kept.state);
  }
  MutationState state =
      run_mutants(session, mutants, test, options, earlier ? &*earlier : nullptr, figures, progress);
  ranks().leave_to_first();
  for (const NotApplicable& entry : not_applicable)
    state.not_applicable.push_back({entry.op.text(), entry.layer, entry.reason});
  state.sort();
  if (!kept.state.empty()) {
    state.write(kept.state);
    Journal::remove(options.journal);
  }
  return state;
}

std::filesystem::path journal_of(const std::filesystem::path& state) { return state.string() + ".journal"; }

}  // namespace assay::mutation
