// Neuron boundary coverage (Ma et al., DeepGauge, ASE 2018).

#include <fmt/format.h>
#include <algorithm>

#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/boundary.h"

namespace assay::coverage {
namespace {

class BoundaryCoverage final : public ItemCriterion {
 public:
  explicit BoundaryCoverage(const CriterionSetup& setup) : ItemCriterion(setup, 2, Keep::first_record) {
    for (LayerItems& layer : layers()) {
      const LayerStatistics& statistics = setup.profile.statistics[layer.position];
      bounds_.push_back(bounds_of(statistics, setup.options.number("widen", 0)));
      forbid(layer, statistics, bounds_.back());
    }
  }

  void observe(const ActivationBatch& batch) override {
    for (std::size_t l = 0; l < layers().size(); ++l) {
      LayerItems& layer = layers()[l];
      std::vector<float> low(layer.neurons), high(layer.neurons);
      std::ranges::transform(bounds_[l].low, low.begin(), at_least);
      std::ranges::transform(bounds_[l].high, high.begin(), at_most);
      const std::vector<std::uint8_t> beyond = any_beyond(batch.layers[layer.position], low, high);
      for (std::size_t r = 0; r < batch.indices.size(); ++r) {
        if (beyond[r] == 0) continue;
        const auto row = batch.layers[layer.position].row(r);
        for (std::size_t n = 0; n < row.size(); ++n) {
          if (row[n] < low[n]) cover(layer, 2 * n, batch.indices[r]);
          if (row[n] > high[n]) cover(layer, 2 * n + 1, batch.indices[r]);
        }
      }
    }
  }

 protected:
  std::string item_name(std::size_t item) const override { return item == 0 ? "below" : "above"; }

  Wanted wanted(const LayerItems& layer, const ActivationBatch& batch, std::size_t row) const override {
    const std::size_t l = &layer - layers().data();
    return [this, &layer, l,
            values = batch.layers[layer.position].row(row)](std::size_t n) -> std::optional<Aim> {
      const bool below = open(layer, 2 * n), above = open(layer, 2 * n + 1);
      const double low = bounds_[l].low[n], high = bounds_[l].high[n];
      if (below && (!above || values[n] - low < high - values[n])) return Aim{.high = low, .beyond = true};
      return above ? std::optional(Aim{.low = high, .beyond = true}) : std::nullopt;
    };
  }

 private:
  // Corners beyond the bounds of the activation function.
  static void forbid(LayerItems& layer, const LayerStatistics& statistics, const Bounds& bounds) {
    std::size_t forbidden = 0;
    if (layer.attainable.empty()) layer.attainable.assign(2 * layer.neurons, true);
    for (std::size_t n = 0; n < layer.neurons; ++n) {
      if (!bounds.can_fall_below(n, statistics.floor)) {
        layer.attainable[2 * n] = false;
        ++forbidden;
      }
      if (!bounds.can_rise_above(n, statistics.ceiling)) {
        layer.attainable[2 * n + 1] = false;
        ++forbidden;
      }
    }
    if (forbidden > 0)
      layer.note += fmt::format("{}corners beyond the activation function's bounds: {}",
                                layer.note.empty() ? "" : ", ", forbidden);
  }

  std::vector<Bounds> bounds_;
};

}  // namespace

CriterionInfo nbc_criterion() {
  return {.name = "nbc",
          .summary = "neuron boundary coverage: activations below and above each neuron's training range",
          .definition =
              "neurons with an activation strictly below low - widen * sd plus neurons with one strictly "
              "above high + widen * sd, divided by twice the "
              "number of neurons; low, high and sd over the training set",
          .limits =
              "a ReLU that is ever off in training has no region below; such corners are left out of the "
              "attainable figure",
          .paper = "Ma et al., DeepGauge, ASE 2018",
          .options = {{"widen", "0", "standard deviations by which the range is widened on each side"}},
          .of_neurons = true,
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
            return std::make_unique<BoundaryCoverage>(setup);
          }};
}

}  // namespace assay::coverage
