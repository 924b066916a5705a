#pragma once

// Intervals of figures over other records.

#include <cstdint>
#include <span>
#include <vector>

#include <assay/extend/task.h>

namespace assay::task {

// Records' sums in at most 500 groups, the record i in group i modulo 500, so that resampling takes the same
// memory and time for any number of records.
class GroupedSums {
 public:
  void add(const Sums& record);
  // What is known later of a record that was added.
  void add_to(std::size_t record, const Sums& more);
  Sums total() const;
  // The task's figures of all records, each with the 2.5th and 97.5th percentile of 1,000 resamples of the
  // groups (Efron, 1979). Without intervals where there are fewer than 10 records. `overall`: of figures that
  // need all records, null where there are none; of `ranked` numbers, more than half a million of which are
  // resampled less often, 100 times at least.
  std::vector<Figure> figures(const Task& task, std::uint64_t seed, const Overall* overall = nullptr,
                              std::size_t ranked = 0) const;

 private:
  // Group g counts times[g] times.
  std::vector<Figure> figures_of(const Task& task, const Overall* overall,
                                 std::span<const std::uint32_t> times) const;

  std::vector<Sums> groups_;
  std::size_t records_ = 0;
};

}  // namespace assay::task
