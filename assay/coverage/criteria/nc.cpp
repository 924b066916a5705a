// Neuron coverage (Pei et al., DeepXplore, SOSP 2017).

#include <algorithm>
#include <array>
#include <limits>

#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/items.h"

namespace assay::coverage {
namespace {

enum class Scale { layer, neurons, none };

Scale scale_of(const SpecOptions& options) {
  static const std::array<std::string, 3> words{"layer", "neurons", "none"};
  const std::string& word = options.word("scale", words);
  return word == words[0] ? Scale::layer : word == words[1] ? Scale::neurons : Scale::none;
}

class NeuronCoverage final : public ItemCriterion {
 public:
  explicit NeuronCoverage(const CriterionSetup& setup)
      : ItemCriterion(setup, 1, Keep::first_record),
        threshold_(setup.options.number("threshold")),
        scale_(scale_of(setup.options)) {}

  bool wants_extremes() const override { return scale_ == Scale::layer; }

  void observe(const ActivationBatch& batch) override {
    std::vector<float> bounds(batch.indices.size());
    for (LayerItems& layer : layers()) {
      for (std::size_t r = 0; r < bounds.size(); ++r) bounds[r] = bound(unit_of(layer, batch, r));
      cover_above(layer, batch, Bound::of_record, bounds);
    }
  }

 protected:
  std::string item_name(std::size_t) const override { return "activated"; }

  Wanted wanted(const LayerItems& layer, const ActivationBatch& batch, std::size_t row) const override {
    const auto [low, range] = unit_of(layer, batch, row);
    return [this, &layer, threshold = low + threshold_ * range](std::size_t n) {
      return open(layer, n) ? std::optional(Aim{.low = threshold, .beyond = true}) : std::nullopt;
    };
  }

 private:
  // What scales to 0 for a record, and how far above it lies what scales to 1.
  struct Unit {
    double low = 0, range = 1;
  };
  Unit unit_of(const LayerItems& layer, const ActivationBatch& batch, std::size_t r) const {
    if (scale_ == Scale::none) return {0, 1};
    if (scale_ == Scale::layer)
      return {batch.least[layer.position][r],
              static_cast<double>(batch.greatest[layer.position][r]) - batch.least[layer.position][r]};
    const auto [least, greatest] = std::ranges::minmax(batch.layers[layer.position].row(r));
    return {least, static_cast<double>(greatest) - least};
  }

  // The greatest activation that does not exceed the threshold once it is scaled.
  float bound(const Unit& unit) const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (unit.range == 0) return 0 > threshold_ ? -infinity : infinity;  // a constant layer scales to 0
    return last_before(unit.low + threshold_ * unit.range,
                       [&](float value) { return (value - unit.low) / unit.range > threshold_; });
  }

  double threshold_;
  Scale scale_;
};

}  // namespace

CriterionInfo nc_criterion() {
  return {
      .name = "nc",
      .summary = "neuron coverage: neurons whose scaled activation exceeds a threshold on some record",
      .definition =
          "neurons with (a - min) / (max - min) > threshold on at least one record, divided by all neurons; "
          "min and max run over all elements of "
          "the layer for that record (a constant layer scales to 0)",
      .limits =
          "rises with almost any input and says nothing about decisions; the threshold decides the figure",
      .paper = "Pei et al., DeepXplore, SOSP 2017; threshold 0.75 as in Gerasimou et al., ICSE 2020",
      .options = {{"threshold", "0.75", "scaled activation above which a neuron counts as activated"},
                  {"scale", "layer",
                   "layer: by least and greatest element of the layer's whole output for the record, as in "
                   "the released code of DeepXplore; "
                   "neurons: by least and greatest neuron activation; none: raw activations"}},
      .of_neurons = true,
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<NeuronCoverage>(setup);
      }};
}

}  // namespace assay::coverage
