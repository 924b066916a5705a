#pragma once

// Defaults of an audit: criteria layer by layer, and its mutants.

#include <memory>
#include <string>
#include <vector>

#include <assay/audit_pool.h>
#include <assay/extend/task.h>
#include <assay/progress.h>

namespace assay::audit {

// Each criterion, and after those that count all layers the same of every layer alone.
std::vector<std::string> with_layers(const std::vector<std::string>& criteria,
                                     const coverage::Profile& profile);

struct DrawnMutants {
  std::size_t count = 25;  // per operator of DeepMutation
  double quality = 0.2;    // as in mutation::RunOptions
  std::uint64_t seed = 1;
  std::size_t batch = 0;
  std::shared_ptr<const task::Task> task = {};  // of records with many items, one of which kills
};
// Throws Error{usage}, with what to do instead, where outputs are not classes, of records or of items:
// mutants drawn for an audit are killed by another class.
void require_classes(const Session& session, const Dataset& test, const task::Task* task);
// Mutants of the network, judged by all records of `test`. Throws as above.
mutation::MutationState judged_mutants(const Session& session, const DatasetPtr& test,
                                       const DrawnMutants& options, Progress& progress);

}  // namespace assay::audit
