#include "assay/coverage/criteria/boundary.h"

#include <algorithm>

#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>

namespace assay::coverage {

Bounds bounds_of(const LayerStatistics& statistics, double widen) {
  Bounds bounds;
  for (std::size_t n = 0; n < statistics.neurons(); ++n) {
    bounds.low.push_back(statistics.low[n] - widen * statistics.deviation[n]);
    bounds.high.push_back(statistics.high[n] + widen * statistics.deviation[n]);
  }
  return bounds;
}

AboveThreshold::AboveThreshold(const CriterionSetup& setup, const Thresholds& thresholds)
    : ItemCriterion(setup, 1, Keep::first_record) {
  for (LayerItems& layer : layers()) {
    const LayerStatistics& statistics = setup.profile.statistics[layer.position];
    thresholds_.push_back(thresholds(statistics));
    for (std::size_t n = 0; n < layer.neurons; ++n) {
      if (thresholds_.back()[n] < statistics.ceiling) continue;
      if (layer.attainable.empty()) layer.attainable.assign(layer.neurons, true);
      layer.attainable[n] = false;
    }
  }
}

void AboveThreshold::observe(const ActivationBatch& batch) {
  for (std::size_t l = 0; l < layers().size(); ++l) {
    std::vector<float> bounds(thresholds_[l].size());
    std::ranges::transform(thresholds_[l], bounds.begin(), at_most);
    cover_above(layers()[l], batch, Bound::of_neuron, bounds);
  }
}

ItemCriterion::Wanted AboveThreshold::wanted(const LayerItems& layer, const ActivationBatch&,
                                             std::size_t) const {
  const std::size_t l = &layer - layers().data();
  return [this, &layer, l](std::size_t n) {
    return open(layer, n) ? std::optional(Aim{.low = thresholds_[l][n], .beyond = true}) : std::nullopt;
  };
}

}  // namespace assay::coverage
