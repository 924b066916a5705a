// Neuron coverage with a threshold of each neuron's own: a quantile of its activations over the training set.

#include <assay/abilities.h>
#include <assay/criteria.h>
#include <assay/error.h>
#include "assay/coverage/criteria/items.h"

namespace assay::coverage {
namespace {

class QuantileCoverage final : public ItemCriterion {
 public:
  explicit QuantileCoverage(const CriterionSetup& setup) : ItemCriterion(setup, 1, Keep::first_record) {
    const double quantile = setup.options.number("quantile");
    for (LayerItems& layer : layers()) {
      const LayerStatistics& statistics = setup.profile.statistics[layer.position];
      const auto found = statistics.quantiles.find(quantile);
      if (found == statistics.quantiles.end())
        fail(Fault::mismatch, "{}: the profile has no quantiles {} of layer '{}'; learn it again with {}",
             setup.spec.text(), quantile, statistics.layer, setup.spec.text());
      thresholds_.push_back(found->second);
      for (std::size_t n = 0; n < layer.neurons; ++n) {
        if (found->second[n] < statistics.ceiling) continue;
        if (layer.attainable.empty()) layer.attainable.assign(layer.neurons, true);
        layer.attainable[n] = false;
      }
    }
  }

  void observe(const ActivationBatch& batch) override {
    for (std::size_t l = 0; l < layers().size(); ++l) {
      LayerItems& layer = layers()[l];
      const float* const threshold = thresholds_[l].data();
      for (std::size_t r = 0; r < batch.indices.size(); ++r) {
        const auto row = batch.layers[layer.position].row(r);
        for (std::size_t n = 0; n < row.size(); ++n) {
          if (row[n] > threshold[n]) cover(layer, n, batch.indices[r]);
        }
      }
    }
  }

 protected:
  std::string item_name(std::size_t) const override { return "activated"; }

  Wanted wanted(const LayerItems& layer, const ActivationBatch&, std::size_t) const override {
    const auto l = static_cast<std::size_t>(&layer - layers().data());
    return [this, &layer, l](std::size_t n) {
      return open(layer, n) ? std::optional(Aim{.low = thresholds_[l][n], .beyond = true}) : std::nullopt;
    };
  }

 private:
  std::vector<std::vector<float>> thresholds_;
};

}  // namespace

CriterionInfo qnc_criterion() {
  return {
      .name = "qnc",
      .summary = "quantile neuron coverage: neurons more active than on nearly all training records",
      .definition =
          "neurons with an activation strictly above the quantile of their activations over the training set "
          "(of n sorted ones the ceil(quantile * n)-th) on at least one record, divided by all neurons",
      .limits =
          "one threshold for each neuron instead of one for all, which the scale of layers no longer "
          "decides; "
          "with a quantile of 1 it is snac",
      .paper = "none; answers the objection to one threshold for all neurons of nc",
      .options = {{"quantile", "0.99",
                   "share of the training records on which the neuron is at most as active, in (0, 1]"}},
      .needs = CriterionInfo::Needs::quantiles,
      .of_neurons = true,
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<QuantileCoverage>(setup);
      }};
}

}  // namespace assay::coverage
