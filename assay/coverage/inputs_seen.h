#pragma once

// What is noted of a data set's records while they pass by, whatever the network makes of them.

#include <vector>

#include <assay/dataset.h>
#include <assay/profile.h>

namespace assay::coverage {

// Record by record, so that batches do not matter. REQUIRES: batches in the order of the records.
class InputsSeen {
 public:
  explicit InputsSeen(const InputSummary& before = {}) : summary_(before) {}
  void add(const Batch& batch);
  const InputSummary& summary() const { return summary_; }

 private:
  InputSummary summary_;
};

// Hashes of a batch's records, by which equal ones are found.
std::vector<std::uint64_t> contents_of(const Batch& batch);

}  // namespace assay::coverage
