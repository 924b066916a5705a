// Strong neuron activation coverage (Ma et al., DeepGauge, ASE 2018).

#include <assay/abilities.h>
#include <assay/criteria.h>
#include "assay/coverage/criteria/boundary.h"

namespace assay::coverage {
namespace {

class StrongActivationCoverage final : public ItemCriterion {
 public:
  explicit StrongActivationCoverage(const CriterionSetup& setup)
      : ItemCriterion(setup, 1, Keep::first_record) {
    for (LayerItems& layer : layers()) {
      const LayerStatistics& statistics = setup.profile.statistics[layer.position];
      bounds_.push_back(bounds_of(statistics, setup.options.number("widen", 0)));
      for (std::size_t n = 0; n < layer.neurons; ++n) {
        if (bounds_.back().can_rise_above(n, statistics.ceiling)) continue;
        if (layer.attainable.empty()) layer.attainable.assign(layer.neurons, true);
        layer.attainable[n] = false;
      }
    }
  }

  void observe(const ActivationBatch& batch) override {
    for (std::size_t l = 0; l < layers().size(); ++l) {
      LayerItems& layer = layers()[l];
      const double* const high = bounds_[l].high.data();
      for (std::size_t r = 0; r < batch.indices.size(); ++r) {
        const auto row = batch.layers[layer.position].row(r);
        for (std::size_t n = 0; n < row.size(); ++n) {
          if (row[n] > high[n]) cover(layer, n, batch.indices[r]);
        }
      }
    }
  }

 protected:
  std::string item_name(std::size_t) const override { return "above"; }

  Wanted wanted(const LayerItems& layer, const ActivationBatch&, std::size_t) const override {
    const auto l = static_cast<std::size_t>(&layer - layers().data());
    return [this, &layer, l](std::size_t n) {
      return open(layer, n) ? std::optional(Aim{.low = bounds_[l].high[n], .beyond = true}) : std::nullopt;
    };
  }

 private:
  std::vector<Bounds> bounds_;
};

}  // namespace

CriterionInfo snac_criterion() {
  return {.name = "snac",
          .summary = "strong neuron activation coverage: activations above each neuron's training range",
          .definition =
              "neurons with an activation strictly above high + widen * sd on at least one record, divided "
              "by all neurons; high and sd over the training set",
          .limits = "a test set like the training set covers little by construction",
          .paper = "Ma et al., DeepGauge, ASE 2018",
          .options = {{"widen", "0", "standard deviations by which the range is widened"}},
          .of_neurons = true,
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
            return std::make_unique<StrongActivationCoverage>(setup);
          }};
}

}  // namespace assay::coverage
