#pragma once

// Attacking a data set: records are chosen, attacked in batches, stored as a data set, read back and checked again.

#include <filesystem>
#include <map>
#include <string>

#include "assay/attack/adversarial_set.h"
#include "assay/attack/catalogue.h"
#include "assay/data/dataset.h"
#include "assay/support/progress.h"

namespace assay {

struct AttackOptions {
  std::size_t batch = 0;          // 0: chosen for the network
  std::uint64_t seed = 1;
  bool all = false;               // attack also records that the network gets wrong (they are to leave the class it names)
  bool only_successful = false;   // store only records that succeed
  bool levels = false;            // store 8-bit levels of the valid range, not float32
  std::filesystem::path journal = {};  // where finished batches are kept, so that the same attack goes on from them; empty: nowhere
  double margin = 0.2;            // regression: outputs that move by more than this are a success
};

// What one attack did. Success, distances and predictions are those of the records as read back from the file; distances
// are shares of the valid range, means over the successful records.
struct AttackSummary {
  Spec spec;                       // with all options
  std::filesystem::path file;      // holds x, y, ids, original, success, predicted, l0, l2, linf, forward, backward
  std::string data;                // the spec under which the file is to be opened: path and preprocessing
  std::size_t walked = 0, attacked = 0, stored = 0, succeeded = 0;
  std::size_t lost = 0;            // succeeded in the search and no more after storing
  double l0 = 0, l2 = 0, linf = 0;           // l0: elements changed by more than 1e-6 of the range
  double forward = 0, backward = 0;          // passes per attacked record
  double seconds = 0;                        // of the search
  std::vector<AdversarialSet::Record> records;  // as the file has them, without their inputs
  std::map<std::string, std::size_t> endings;  // why searches ended without success, where attacks say so
};

// Writes `file` (.npz; under a temporary name, renamed). After an interruption it holds what was finished, with success as
// the search found it, and the Error{interrupted} says how much that is. A journal is left behind, also by an attack that was
// finished: whoever asked for it removes it once nothing has to be repeated. Throws Error{mismatch} for the journal of another attack.
AttackSummary attack_dataset(const Session& session, DatasetPtr dataset, const Spec& spec, const std::filesystem::path& file,
                             const AttackOptions& options, Progress& progress);

}  // namespace assay
