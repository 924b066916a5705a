#pragma once

// Squared Euclidean distances from queries to many references: a float32 matrix product decides with a proven
// error bound which pairs can matter, and those are computed in float64. Internal to the surprise measures.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "assay/surprise/traces.h"

namespace assay::surprise {

// Float64, in four interleaved partial sums: the one definition of distance here.
template <typename T>
double squared_distance(const T* a, const T* b, std::size_t dimensions);

struct Range {
  std::size_t begin = 0, end = 0;
};

struct Neighbour {
  std::size_t index = 0;
  double squared = 0;
};

// References in the form the filter needs: moved to their mean, scaled by a power of two to at most 1, one
// more column holding -|y|^2/2, so one product gives v(x, y) = x.y - |y|^2/2 = (|x|^2 - |x - y|^2) / 2. T is
// float or double. Views `rows`, which must outlive it. Memory: 4 (d + 1) + 8 bytes per record.
template <typename T>
class References {
 public:
  References(std::span<const T> rows, std::size_t dimensions);

  // The nearest reference within the ranges for every query (pointers to rows); equal distances go to the
  // lowest rank (the index itself when rank is empty). REQUIRES finite values and non-empty ranges.
  std::vector<Neighbour> nearest(std::span<const T* const> queries, std::span<const Range> ranges,
                                 std::span<const std::size_t> rank, const BlockOptions& options) const;

  // Calls visit(query, reference, squared) for at least all references with squared <= limits[query],
  // references ascending within a query; different queries may be visited from different threads at once.
  void within(std::span<const T* const> queries, std::span<const double> limits,
              const std::function<void(std::size_t, std::size_t, double)>& visit,
              const BlockOptions& options) const;

 private:
  struct Query {
    double norm = 0;
    bool filtered = true;  // false: too far away for float32, all references are candidates
  };
  Query pack(const T* row, float* out) const;
  double error_bound(const Query& query, double largest_norm) const;
  template <typename Consume>
  void products(std::span<const T* const> queries, std::span<const Range> ranges, const BlockOptions& options,
                const Consume& consume) const;

  std::span<const T> rows_;
  std::size_t dimensions_, records_;
  std::vector<double> centre_, norms_;
  double scale_ = 1;
  std::vector<float> packed_;
};

extern template class References<float>;
extern template class References<double>;

}  // namespace assay::surprise
