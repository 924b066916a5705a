#pragma once

// The finished batches of an attack on a data set, as its journal keeps them.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/attack.h>
#include "assay/attack/adversarial_set.h"
#include "assay/support/files/journal.h"

namespace assay::attack {

// Some records of a data set that are not left out, those from where the last batch ended.
struct AttackedBatch {
  std::size_t walked = 0;                       // records looked at
  double seconds = 0;                           // of the search
  std::map<std::string, std::size_t> endings;   // as AttackSummary has them
  std::vector<AdversarialSet::Record> records;  // of those that were attacked; distances are not known yet
  std::vector<std::byte> inputs;                // of these records, as they are stored
};

// Identity of the attack; `spec` with all options.
JournalKey journal_key(const Session& session, const Dataset& dataset, const Spec& spec,
                       const AttackOptions& options);

// As an entry of a journal.
std::string to_bytes(const AttackedBatch& batch);
// From what to_bytes() gave. `record_bytes`: of a record as it is stored. Throws std::exception for other
// bytes.
AttackedBatch batch_from(std::string_view bytes, std::size_t record_bytes);
// The batches that were finished before, in order. `candidates`: records of the data set that are looked at,
// ascending; `record_bytes`: of one as it is stored. Throws Error{data} for a journal that cannot be used.
std::vector<AttackedBatch> batches_of(const Journal& journal, std::span<const std::size_t> candidates,
                                      std::size_t record_bytes);

}  // namespace assay::attack
