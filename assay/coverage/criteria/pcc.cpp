// Pairwise concept coverage (Zhang et al., RACA, arXiv:2602.02280): neurons, or directions of concepts, that
// are active together.

#include <algorithm>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/items.h"

namespace assay::coverage {
namespace {

constexpr std::size_t most_neurons = 8192;  // of a layer: 34 million pairs

std::vector<WholeLayer> pairs_of_layers(const CriterionSetup& setup) {
  std::vector<WholeLayer> layers;
  for (const std::size_t position : setup.layers) {
    const LayerStatistics& layer = setup.profile.statistics[position];
    const std::size_t neurons = layer.neurons();
    if (neurons > most_neurons)
      fail(
          Fault::usage,
          "{}: layer '{}' has {} neurons, and pairs of at most {} are kept; name other layers (layer=), or a "
          "view of directions in it",
          setup.spec.text(), layer.layer, neurons, most_neurons);
    layers.push_back({position, neurons * (neurons - 1) / 2});
  }
  return layers;
}

class PairwiseCoverage final : public ItemCriterion {
 public:
  explicit PairwiseCoverage(const CriterionSetup& setup)
      : ItemCriterion(setup, pairs_of_layers(setup)), threshold_(setup.options.number("threshold")) {
    for (LayerItems& layer : layers()) {
      const LayerStatistics& statistics = setup.profile.statistics[layer.position];
      neurons_.push_back(statistics.neurons());
      leave_out_dependent(layer, statistics);
    }
  }

  void observe(const ActivationBatch& batch) override {
    std::vector<std::size_t> active;
    for (LayerItems& layer : layers()) {
      const Activations& activations = batch.layers[layer.position];
      for (std::size_t r = 0; r < activations.rows; ++r) {
        active_of(activations.row(r), active);
        for (std::size_t b = 1; b < active.size(); ++b)
          for (std::size_t a = 0; a < b; ++a) cover(layer, item_of(active[a], active[b]), batch.indices[r]);
      }
    }
  }

  std::vector<Coverage> result() const override {
    std::vector<Coverage> rows = ItemCriterion::result();
    std::uint64_t sums[4] = {};
    for (const Coverage& row : rows) {
      const std::string* const counts[] = {&row.covered, &row.coverable, &row.attainable_covered,
                                           &row.attainable};
      for (std::size_t i = 0; i < 4; ++i) sums[i] += std::stoull(*counts[i]);
    }
    rows.push_back(coverage_of("all", sums[0], sums[1], sums[2], sums[3]));
    return rows;
  }

  // For each neuron with an open pair: it and the most active of those that it has not been active with.
  std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const override {
    std::vector<std::vector<Aim>> ways;
    for (std::size_t l = 0; l < layers().size(); ++l) {
      const LayerItems& layer = layers()[l];
      const auto values = batch.layers[layer.position].row(row);
      for (std::size_t n = 0; n < neurons_[l]; ++n) {
        const std::optional<std::size_t> other = best_partner(layer, values, n);
        if (other) ways.push_back({above(layer, n), above(layer, *other)});
      }
    }
    return ways;
  }

 protected:
  Wanted wanted(const LayerItems&, const ActivationBatch&, std::size_t) const override {
    return [](std::size_t) { return std::nullopt; };
  }
  std::string whole_item_name(const LayerItems&, std::size_t item) const override {
    std::size_t b = 1;
    while (item_of(0, b + 1) <= item) ++b;
    return fmt::format("neurons {} and {}", item - item_of(0, b), b);
  }

 private:
  // Of a pair with a < b: those of smaller b come first.
  static std::size_t item_of(std::size_t a, std::size_t b) { return b * (b - 1) / 2 + a; }
  static std::size_t item_of_any(std::size_t a, std::size_t b) {
    return item_of(std::min(a, b), std::max(a, b));
  }

  static void leave_out_dependent(LayerItems& layer, const LayerStatistics& statistics) {
    std::size_t left_out = 0;
    for (std::size_t n = 0; n < statistics.neurons(); ++n) {
      if (!statistics.constant(n) && !statistics.duplicate(n)) continue;
      ++left_out;
      layer.attainable.resize(layer.neurons, true);
      for (std::size_t other = 0; other < statistics.neurons(); ++other)
        if (other != n) layer.attainable[item_of_any(n, other)] = false;
    }
    if (left_out > 0) layer.note = fmt::format("{} constant in training or the same as another", left_out);
  }

  void active_of(std::span<const float> values, std::vector<std::size_t>& active) const {
    active.clear();
    for (std::size_t n = 0; n < values.size(); ++n)
      if (values[n] > threshold_) active.push_back(n);
  }

  std::optional<std::size_t> best_partner(const LayerItems& layer, std::span<const float> values,
                                          std::size_t n) const {
    std::optional<std::size_t> best;
    for (std::size_t other = 0; other < values.size(); ++other) {
      if (other == n || !open(layer, item_of_any(n, other))) continue;
      if (!best || values[other] > values[*best]) best = other;
    }
    return best;
  }

  Aim above(const LayerItems& layer, std::size_t neuron) const {
    return {.layer = layer.position, .neuron = neuron, .low = threshold_, .beyond = true};
  }

  double threshold_;
  std::vector<std::size_t> neurons_;  // per layer
};

}  // namespace

CriterionInfo pcc_criterion() {
  return {
      .name = "pcc",
      .summary = "pairwise concept coverage: pairs of neurons of a layer that are active on one record",
      .definition =
          "pairs of neurons of a layer that are both above threshold on at least one record, divided by "
          "all pairs of the layer; in a view of directions, pairs of concepts",
      .limits = "pairs that exclude each other count as coverable; the threshold is one of raw activations",
      .paper =
          "Zhang et al., RACA: Representation-Aware Coverage Criteria for LLM Safety Testing, "
          "arXiv:2602.02280, 2026",
      .options = {{"threshold", "2.5", "activation above which a neuron counts as active"}},
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<PairwiseCoverage>(setup);
      }};
}

}  // namespace assay::coverage
