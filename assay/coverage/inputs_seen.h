#pragma once

// Notes about a data set's records, taken while they are read, independent of the network.

#include <span>
#include <vector>

#include <assay/dataset.h>
#include <assay/profile.h>

namespace assay::coverage {

// Of one record.
struct InputNote {
  float low = 0, high = 0;
  double mean = 0;
};
struct BatchNotes {
  std::vector<InputNote> inputs;        // of each record; empty where elements are not numbers
  std::vector<std::uint64_t> contents;  // hashes of the records, by which equal ones are found
};
BatchNotes notes_of(const Batch& batch, std::size_t threads);

// Record by record, so that batches do not matter. REQUIRES: notes in the order of the records.
class InputsSeen {
 public:
  explicit InputsSeen(const InputSummary& before = {}) : summary_(before) {}
  void add(std::span<const InputNote> notes);
  const InputSummary& summary() const { return summary_; }

 private:
  InputSummary summary_;
};

}  // namespace assay::coverage
