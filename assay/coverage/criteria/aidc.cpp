// Importance-driven coverage (Gerasimou et al., ICSE 2020) of the combinations that are known to be
// reachable.

#include <algorithm>
#include <set>

#include <assay/error.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/idc.h"

namespace assay::coverage {
namespace {

class AttainableIdc final : public Idc {
 public:
  AttainableIdc(const CriterionSetup& setup, std::size_t m)
      : Idc(setup.spec.text(), setup.profile, setup.layers, m) {
    for (const LayerCombinations& layer : layers()) {
      const auto learned = std::ranges::find(setup.profile.clusters, layer.name, &LayerClusters::layer);
      if (learned->combinations.empty())
        fail(
            Fault::mismatch,
            "{}: the profile does not say which combinations the training data reach; learn it again with {}",
            setup.spec.text(), setup.spec.text());
      std::set<Combination>& reached = reached_.emplace_back();
      for (const Combination& whole : learned->combinations)
        reached.insert(whole.substr(0, layer.neurons.size()));
    }
  }

  std::vector<Coverage> result() const override {
    std::vector<Coverage> rows;
    for (std::size_t l = 0; l < layers().size(); ++l) {
      const LayerCombinations& layer = layers()[l];
      const auto beyond = static_cast<std::uint64_t>(std::ranges::count_if(
          layer.covered, [&](const auto& entry) { return !reached_[l].contains(entry.first); }));
      rows.push_back(coverage_of(layer.name, layer.covered.size(), reached_[l].size() + beyond));
      if (beyond > 0)
        rows.back().note = fmt::format("covered combinations that no training record reaches: {}", beyond);
    }
    return rows;
  }

 private:
  std::vector<std::set<Combination>> reached_;  // per layer, by training records
};

}  // namespace

CriterionInfo aidc_criterion() {
  return {
      .name = "aidc",
      .summary = "attainable importance-driven coverage: of the combinations that are known to be reachable",
      .definition =
          "as idc, divided by the combinations that a training record or a record of the test set falls "
          "into, "
          "instead of by all",
      .limits =
          "training records and test set are what shows a combination to be reachable, so it rises towards 1 "
          "with a test set like the training set, and two test sets have two denominators where either goes "
          "beyond the training set",
      .paper = "combinations of Gerasimou et al., ICSE 2020; the denominator is Assay's",
      .options = {important_option()},
      .needs = CriterionInfo::Needs::combinations,
      .all_layers = false,
      .of_neurons = true,
      .names_combinations = true,
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<AttainableIdc>(setup, important_count(setup.options));
      }};
}

}  // namespace assay::coverage
