#pragma once

// The records that retraining adds and is judged by: given ones, and those made by attacks.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <assay/attack.h>
#include <assay/session.h>

namespace assay::retraining {

struct GivenOptions {
  DatasetPtr held_out;              // to judge by; null: a share of the given records is held out
  double share = 0.5;               // of the records with one id, all or none
  std::span<const Session> voters;  // name the labels by majority; empty: labels are those of the data
  std::size_t batch = 0;
  std::uint64_t seed = 1;
};

struct GivenAdditions {
  DatasetPtr candidates, held;
  std::vector<std::string> notices;  // what was left out
};

// Throws Error{data} for records without labels, without a majority or too few to be divided.
GivenAdditions divide_additions(const std::vector<DatasetPtr>& given, const GivenOptions& options,
                                Progress& progress);

struct MadeOptions {
  std::size_t pool = 1000;       // training records that each attack changes
  bool only_successful = false;  // of the additions, keep only those where the attack succeeded
  std::filesystem::path folder;  // where the records go
  std::size_t batch = 0;
  std::uint64_t seed = 1;
  std::shared_ptr<const task::Task> task = {};  // of records with many items
};

struct MadeRecords {
  std::string name;  // of the attack, and -2 for a second one of that name
  attack::AttackSummary attack;
  DatasetPtr data;
};

// Random training records as each attack changes them. Throws Error{usage} when an attack makes less than
// `count` records. What a kill leaves unfinished is continued.
std::vector<MadeRecords> make_additions(const Session& session, const DatasetPtr& training,
                                        std::span<const Spec> attacks, std::size_t count,
                                        const MadeOptions& options, Progress& progress);

// The whole test set as each attack changes it; names begin with "test-".
std::vector<MadeRecords> make_evaluation_sets(const Session& session, const DatasetPtr& test,
                                              std::span<const Spec> attacks, const MadeOptions& options,
                                              Progress& progress);

}  // namespace assay::retraining
