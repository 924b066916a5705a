#pragma once

// Common parts of criteria that count activations beyond bounds of each neuron: corner regions beyond the
// training range (nbc, snac), activations above a quantile (qnc).

#include <functional>
#include <vector>

#include "assay/coverage/criteria/items.h"

namespace assay::coverage {

// Bounds of the region that counts as usual, per neuron of one layer.
struct Bounds {
  std::vector<double> low, high;
  bool can_fall_below(std::size_t neuron, double floor) const { return low[neuron] > floor; }
  bool can_rise_above(std::size_t neuron, double ceiling) const { return high[neuron] < ceiling; }
};

// The training range, widened by `widen` standard deviations.
Bounds bounds_of(const LayerStatistics& statistics, double widen);

// Neurons more active on some record than their threshold.
class AboveThreshold final : public ItemCriterion {
 public:
  using Thresholds = std::function<std::vector<double>(const LayerStatistics&)>;  // per neuron
  AboveThreshold(const CriterionSetup& setup, const Thresholds& thresholds);

  void observe(const ActivationBatch& batch) override;

 protected:
  std::string item_name(std::size_t) const override { return "above"; }
  Wanted wanted(const LayerItems& layer, const ActivationBatch& batch, std::size_t row) const override;

 private:
  std::vector<std::vector<double>> thresholds_;  // per layer
};

}  // namespace assay::coverage
