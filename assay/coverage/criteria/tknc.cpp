// Top-k and bottom-k neuron coverage (Ma et al., DeepGauge, ASE 2018).

#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/items.h"
#include "assay/coverage/criteria/top_k.h"

namespace assay::coverage {
namespace {

class ExtremeNeuronCoverage final : public ItemCriterion {
 public:
  ExtremeNeuronCoverage(const CriterionSetup& setup, bool least)
      : ItemCriterion(setup, 1, Keep::first_record), k_(setup.options.count("k", 1)), least_(least) {}

  void observe(const ActivationBatch& batch) override {
    TopK top(k_, least_);
    for (LayerItems& layer : layers()) {
      top.each(batch.layers[layer.position], [&](std::size_t r, TopK::Positions chosen) {
        for (const std::uint32_t n : chosen) cover(layer, n, batch.indices[r]);
      });
    }
  }

 protected:
  std::string item_name(std::size_t) const override {
    return least_ ? "among the least" : "among the greatest";
  }

  Wanted wanted(const LayerItems& layer, const ActivationBatch& batch, std::size_t row) const override {
    const auto values = batch.layers[layer.position].row(row);
    const double last = values[TopK(k_, least_).of(values).back()];
    return [this, &layer, last](std::size_t n) -> std::optional<Aim> {
      if (!open(layer, n)) return std::nullopt;
      return least_ ? Aim{.high = last, .beyond = true} : Aim{.low = last, .beyond = true};
    };
  }

 private:
  std::size_t k_;
  bool least_;
};

}  // namespace

CriterionInfo tknc_criterion() {
  return {.name = "tknc",
          .summary = "top-k neuron coverage: neurons that are among the k most active of their layer",
          .definition =
              "neurons that are among the k greatest activations of their layer on at least one record (ties "
              "to the lower index), divided by all neurons; "
              "a layer of at most k neurons is covered whole",
          .limits = "saturates at once in narrow layers",
          .paper = "Ma et al., DeepGauge, ASE 2018; k = 3 as in Gerasimou et al., ICSE 2020",
          .options = {{"k", "3", "neurons per layer and record"}},
          .of_neurons = true,
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
            return std::make_unique<ExtremeNeuronCoverage>(setup, false);
          }};
}

CriterionInfo bknc_criterion() {
  return {.name = "bknc",
          .summary = "bottom-k neuron coverage: neurons that are among the k least active of their layer",
          .definition =
              "neurons that are among the k least activations of their layer on at least one record (ties to "
              "the lower index), divided by all neurons",
          .limits = "where many neurons are 0, as after a ReLU, the tie goes to the lowest indices",
          .paper = "the mirror image of top-k neuron coverage of Ma et al., DeepGauge, ASE 2018",
          .options = {{"k", "3", "neurons per layer and record"}},
          .of_neurons = true,
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
            return std::make_unique<ExtremeNeuronCoverage>(setup, true);
          }};
}

}  // namespace assay::coverage
