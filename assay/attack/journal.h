#pragma once

// What an attack on a data set has finished, on disk batch by batch, so that the same command goes on from there after a kill.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/attack/adversarial_set.h"
#include "assay/support/binary.h"

namespace assay {

// Some records of a data set, those from where the last batch ended.
struct AttackedBatch {
  std::size_t walked = 0;                      // records looked at
  double seconds = 0;                          // of the search
  std::map<std::string, std::size_t> endings;  // as AttackSummary has them
  std::vector<AdversarialSet::Record> records; // of those that were attacked; distances are not known yet
  std::vector<std::byte> inputs;               // of these records, as they are stored
};

class AttackJournal {
 public:
  // `job`: tells this attack from all others. `size`: records of the data set; `record_bytes`: of one as it is stored.
  // Throws Error{io}, Error{mismatch} for the journal of another job and Error{data} for one that cannot be used.
  AttackJournal(std::filesystem::path path, const std::string& job, std::size_t size, std::size_t record_bytes);

  // The batches that were finished before, in order.
  std::vector<AttackedBatch> found() const;
  // Returns when the batch is on disk. Throws Error{io}.
  void append(const AttackedBatch& batch);

 private:
  std::filesystem::path path_;
  std::size_t size_, record_bytes_;
  AppendFile file_;
};

}  // namespace assay
