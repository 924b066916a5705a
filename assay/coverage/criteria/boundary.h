#pragma once

// What the boundary criteria nbc and snac share: corner regions beyond the training range.

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

}  // namespace assay::coverage
