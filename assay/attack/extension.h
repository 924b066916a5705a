#pragma once

// The coverage of a test set next to that of the set extended by records that attacks make from it.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <assay/attack.h>
#include <assay/coverage.h>

namespace assay::attack {

struct ExtensionOptions {
  std::filesystem::path folder;  // for the attacked records
  std::size_t batch = 0;         // 0: chosen for the network
  std::uint64_t seed = 1;
  std::shared_ptr<const task::Task> task = {};  // of records with many items
};

struct Extension {
  std::string name;  // of the attack, and -2 for a second one of that name
  AttackSummary made;
  coverage::CoverageState state;  // of the attacked records alone
};

// Attacks all records of `test` by each attack and measures what the results cover, by `criteria` of
// `profile`. Journals lie in the folder until everything is done.
std::vector<Extension> extend(const Session& session, const std::shared_ptr<const coverage::Profile>& profile,
                              const std::vector<Spec>& criteria, const DatasetPtr& test,
                              std::span<const Spec> attacks, const ExtensionOptions& options,
                              Progress& progress);

}  // namespace assay::attack
