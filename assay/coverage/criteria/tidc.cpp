// Importance-driven coverage at strength t: combinatorial testing (Kuhn, Wallace and Gallo, IEEE TSE 2004;
// for networks Ma et al., DeepCT, SANER 2019) of the clusters of important neurons (Gerasimou et al., ICSE
// 2020).

#include <algorithm>
#include <numeric>

#include <assay/error.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/idc.h"
#include "assay/coverage/criteria/items.h"

namespace assay::coverage {
namespace {

// All sets of `t` of the numbers below `m`, ascending, in lexicographic order.
std::vector<std::vector<std::size_t>> sets_of(std::size_t m, std::size_t t) {
  std::vector<std::vector<std::size_t>> sets;
  std::vector<std::size_t> set(t);
  std::iota(set.begin(), set.end(), std::size_t{0});
  while (true) {
    sets.push_back(set);
    std::size_t i = t;
    while (i > 0 && set[i - 1] == m - t + i - 1) --i;
    if (i == 0) return sets;
    ++set[i - 1];
    for (std::size_t j = i; j < t; ++j) set[j] = set[j - 1] + 1;
  }
}

// The sets of t important neurons of a layer, each with its combinations of clusters as items one after
// another.
struct Interactions {
  std::size_t position = 0;  // of the layer in the profile
  std::vector<ImportantNeuron> neurons;
  std::vector<std::vector<std::size_t>> sets;  // positions among the neurons
  std::vector<std::size_t> first;              // item of each set's first combination, and the number of all

  std::size_t clusters(std::size_t neuron) const { return neurons[neuron].clusters.centroids.size(); }
  // The cluster of each important neuron.
  std::vector<std::size_t> clusters_of(std::span<const float> activations) const {
    std::vector<std::size_t> result;
    for (const ImportantNeuron& neuron : neurons)
      result.push_back(neuron.clusters.nearest(activations[neuron.neuron]));
    return result;
  }
  std::size_t item(std::size_t set, const std::vector<std::size_t>& cluster) const {
    std::size_t place = 0;
    for (const std::size_t n : sets[set]) place = place * clusters(n) + cluster[n];
    return first[set] + place;
  }
  Aim aim(std::size_t neuron, std::size_t cluster) const {
    const auto& centroids = neurons[neuron].clusters.centroids;
    Aim aim{.layer = position, .neuron = neurons[neuron].neuron};
    if (cluster > 0) aim.low = (centroids[cluster - 1] + centroids[cluster]) / 2;
    if (cluster + 1 < centroids.size()) aim.high = (centroids[cluster] + centroids[cluster + 1]) / 2;
    return aim;
  }
};

std::vector<Interactions> interactions_of(const CriterionSetup& setup) {
  constexpr std::size_t most_items = 50'000'000;
  const std::size_t m = important_count(setup.options);
  const std::size_t t = setup.options.count("t", 1);
  std::vector<Interactions> all;
  for (const std::size_t position : setup.layers) {
    const std::string& name = setup.profile.statistics[position].layer;
    const auto found = std::ranges::find(setup.profile.clusters, name, &LayerClusters::layer);
    if (found == setup.profile.clusters.end()) continue;
    const std::size_t wanted = m == 0 ? found->auto_m : m;
    const std::size_t there = found->important.size();
    if (there < wanted && there < setup.profile.statistics[position].counted()) {
      fail(Fault::mismatch,
           "{}: the profile has clusters for {} neurons of layer '{}'; learn it again with a larger m",
           setup.spec.text(), there, name);
    }
    Interactions layer;
    layer.position = position;
    layer.neurons.assign(found->important.begin(), found->important.begin() + std::min(wanted, there));
    if (t > layer.neurons.size()) {
      fail(Fault::usage, "{}: strength {} is more than the {} important neurons of layer '{}'",
           setup.spec.text(), t, layer.neurons.size(), name);
    }
    // Beyond this number of sets there are too many items anyway.
    double sets = 1;
    for (std::size_t i = 0; i < t; ++i) sets *= static_cast<double>(layer.neurons.size() - i) / (i + 1);
    if (sets < most_items) layer.sets = sets_of(layer.neurons.size(), t);
    layer.first = {0};
    double items = sets < most_items ? 0 : sets;
    for (const auto& set : layer.sets) {
      double combinations = 1;
      for (const std::size_t n : set) combinations *= layer.clusters(n);
      items += combinations;
      if (items > most_items) break;
      layer.first.push_back(static_cast<std::size_t>(items));
    }
    if (items > most_items) {
      fail(Fault::usage, "{}: layer '{}' has more than {} combinations; choose a smaller t or m",
           setup.spec.text(), name, most_items);
    }
    all.push_back(std::move(layer));
  }
  if (all.empty()) {
    fail(Fault::mismatch,
         "{}: the profile has no important neurons of these layers; learn it again with tidc",
         setup.spec.text());
  }
  return all;
}

std::vector<WholeLayer> whole_layers(const std::vector<Interactions>& interactions) {
  std::vector<WholeLayer> layers;
  for (const Interactions& layer : interactions) layers.push_back({layer.position, layer.first.back()});
  return layers;
}

class TwayCoverage final : public ItemCriterion {
 public:
  TwayCoverage(const CriterionSetup& setup, std::vector<Interactions> interactions)
      : ItemCriterion(setup, whole_layers(interactions)), interactions_(std::move(interactions)) {}

  void observe(const ActivationBatch& batch) override {
    for (std::size_t l = 0; l < interactions_.size(); ++l) {
      const Interactions& layer = interactions_[l];
      for (std::size_t r = 0; r < batch.indices.size(); ++r) {
        const std::vector<std::size_t> clusters = layer.clusters_of(batch.layers[layer.position].row(r));
        for (std::size_t s = 0; s < layer.sets.size(); ++s)
          cover(layers()[l], layer.item(s, clusters), batch.indices[r]);
      }
    }
  }

  // Open combinations that differ from the record's own in one neuron; where there are none, all open ones.
  std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const override {
    std::vector<std::vector<Aim>> near, far;
    for (std::size_t l = 0; l < interactions_.size(); ++l) {
      const Interactions& layer = interactions_[l];
      const std::vector<std::size_t> own = layer.clusters_of(batch.layers[layer.position].row(row));
      for (std::size_t s = 0; s < layer.sets.size(); ++s) {
        for (std::size_t i = layer.first[s]; i < layer.first[s + 1]; ++i) {
          if (!open(layers()[l], i)) continue;
          std::size_t rest = i - layer.first[s], different = 0;
          std::vector<Aim> way;
          for (auto n = layer.sets[s].rbegin(); n != layer.sets[s].rend(); ++n) {
            const std::size_t cluster = rest % layer.clusters(*n);
            rest /= layer.clusters(*n);
            different += cluster != own[*n];
            way.push_back(layer.aim(*n, cluster));
          }
          (different == 1 ? near : far).push_back(std::move(way));
        }
      }
    }
    return near.empty() ? far : near;
  }

 protected:
  Wanted wanted(const LayerItems&, const ActivationBatch&, std::size_t) const override {
    return [](std::size_t) { return std::nullopt; };
  }

  // "neurons 4 7: clusters 0 2".
  std::string whole_item_name(const LayerItems& items, std::size_t item) const override {
    const auto layer = std::ranges::find(interactions_, items.position, &Interactions::position);
    const auto set =
        static_cast<std::size_t>(std::ranges::upper_bound(layer->first, item) - layer->first.begin() - 1);
    std::size_t rest = item - layer->first[set];
    std::string neurons, clusters;
    for (auto n = layer->sets[set].rbegin(); n != layer->sets[set].rend(); ++n) {
      neurons = fmt::format(" {}{}", layer->neurons[*n].neuron, neurons);
      clusters = fmt::format(" {}{}", rest % layer->clusters(*n), clusters);
      rest /= layer->clusters(*n);
    }
    return fmt::format("neurons{}: clusters{}", neurons, clusters);
  }

 private:
  std::vector<Interactions> interactions_;
};

}  // namespace

CriterionInfo tidc_criterion() {
  return {
      .name = "tidc",
      .summary =
          "importance-driven coverage at strength t: combinations of clusters of every t important "
          "neurons",
      .definition =
          "for every set of t of the m important neurons, the combinations of their clusters, one cluster "
          "per neuron; covered ones divided by all. A record covers one combination of each set. t = m is "
          "idc, t = 1 the clusters of single neurons",
      .limits =
          "says nothing of more than t neurons together; clusters of correlated neurons make "
          "combinations that no input reaches",
      .paper =
          "Kuhn, Wallace and Gallo, Software Fault Interactions and Implications for Software Testing, "
          "IEEE TSE 2004, on the clusters of Gerasimou et al., ICSE 2020",
      .options = {{"t", "2", "strength: neurons of a combination"}, important_option()},
      .needs = CriterionInfo::Needs::clusters,
      .all_layers = false,
      .of_neurons = true,
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<TwayCoverage>(setup, interactions_of(setup));
      }};
}

}  // namespace assay::coverage
