#pragma once

// For notices of annotators: counts each record once, however often a probe, another query or a table of
// behaviours asks for it.

#include <mutex>
#include <vector>

#include <assay/extend/hypothesis.h>

namespace assay::inspection {

class CountedRecords {
 public:
  // Of each record of the block, 1 where it was not asked about before. Thread-safe, as size() is.
  std::vector<char> note(const RecordBlock& records) {
    const std::lock_guard lock(mutex_);
    std::vector<char> fresh;
    for (const std::size_t index : records.batch.indices) {
      if (index >= seen_.size()) seen_.resize(index + 1);
      fresh.push_back(seen_[index] ? 0 : 1);
      size_ += seen_[index] ? 0 : 1;
      seen_[index] = true;
    }
    return fresh;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return size_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<bool> seen_;
  std::size_t size_ = 0;
};

}  // namespace assay::inspection
