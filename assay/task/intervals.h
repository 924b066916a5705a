#pragma once

// Intervals of figures over other records.

#include <cstdint>
#include <vector>

#include <assay/extend/task.h>

namespace assay::task {

// Records' sums in at most 500 groups, the record i in group i modulo 500, so that resampling takes the same
// memory and time for any number of records.
class GroupedSums {
 public:
  void add(const Sums& record);
  Sums total() const;
  // The task's figures of all records, each with the 2.5th and 97.5th percentile of 1,000 resamples of the
  // groups (Efron, 1979). Without intervals where there are fewer than 10 records.
  std::vector<Figure> figures(const Task& task, std::uint64_t seed) const;

 private:
  std::vector<Sums> groups_;
  std::size_t records_ = 0;
};

}  // namespace assay::task
