#pragma once

// Ranges, moments and duplicates of one layer's neurons, record by record, so that batches do not matter.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <assay/profile.h>
#include <assay/session.h>
#include "assay/coverage/learning/quantiles.h"

namespace assay::coverage {

class StatisticsLearner {
 public:
  // Of at most `records` records; `quantiles`: shares in (0, 1] at which every neuron's value is wanted.
  StatisticsLearner(const Layer& layer, const std::set<double>& quantiles, std::size_t records);

  // Rows that are not usable are passed over.
  void observe(const Activations& activations, const std::vector<bool>& usable);
  // Of all rows; once, at the end.
  LayerStatistics finish();

 private:
  void add(std::span<const float> row);
  void find_duplicates();

  LayerStatistics result_;
  std::size_t records_ = 0;
  std::vector<float> first_;  // record: sums are of differences from it
  std::vector<double> sum_, squares_;
  std::vector<std::uint64_t> hash_;  // of each neuron's activations
  std::optional<Quantiles> quantiles_;
};

}  // namespace assay::coverage
