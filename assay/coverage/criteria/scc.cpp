// Semantic cluster coverage (Zhang et al., RACA, arXiv:2602.02280): clusters of training records that test
// records fall into.

#include <algorithm>
#include <cmath>
#include <memory>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/clustering/centroids.h"
#include "assay/coverage/criteria/items.h"
#include "assay/coverage/criteria/surprise_criterion.h"

namespace assay::coverage {
namespace {

using clustering::Centroids;

bool is_finite_row(std::span<const float> row) {
  return std::ranges::all_of(row, [](float value) { return std::isfinite(value); });
}

class ClusterCoverage final : public ItemCriterion {
 public:
  explicit ClusterCoverage(const CriterionSetup& setup)
      : ItemCriterion(setup, traced_layers(setup, setup.options.count("clusters", 2))),
        clusters_(setup.options.count("clusters", 2)),
        seed_(setup.options.count("seed", 0)) {
    for (const LayerItems& layer : layers()) {
      const std::shared_ptr<const LayerTraces> training = traces_of(setup.profile, layer.name);
      centroids_.push_back(training ? centroids_of(*training) : nullptr);
    }
  }

  void observe(const ActivationBatch& batch) override {
    for (std::size_t l = 0; l < layers().size(); ++l) {
      if (!centroids_[l])
        fail(Fault::mismatch,
             "{}: the state holds no training traces; measure with the profile it was made with", spec());
      const Activations& activations = batch.layers[layers()[l].position];
      if (activations.columns != centroids_[l]->dimensions)
        fail(Fault::mismatch, "{}: the training traces of layer '{}' are of {} neurons, and it has {}",
             spec(), layers()[l].name, centroids_[l]->dimensions, activations.columns);
      for (std::size_t r = 0; r < activations.rows; ++r) {
        const auto row = activations.row(r);
        if (is_finite_row(row)) cover(layers()[l], centroids_[l]->nearest(row), batch.indices[r]);
      }
    }
  }

  // Into each cluster that no record fell into.
  std::vector<std::vector<Aim>> aims(const ActivationBatch&, std::size_t) const override {
    std::vector<std::vector<Aim>> ways;
    for (std::size_t l = 0; l < layers().size(); ++l) {
      for (std::size_t c = 0; centroids_[l] && c < clusters_; ++c)
        if (open(layers()[l], c)) ways.push_back(towards(layers()[l], *centroids_[l], c));
    }
    return ways;
  }

 protected:
  Wanted wanted(const LayerItems&, const ActivationBatch&, std::size_t) const override {
    return [](std::size_t) { return std::nullopt; };
  }
  std::string whole_item_name(const LayerItems&, std::size_t item) const override {
    return fmt::format("cluster {}", item);
  }

 private:
  std::shared_ptr<const Centroids> centroids_of(const LayerTraces& training) const {
    return training.derived<Centroids>(spec(), [&] {
      auto found = std::make_shared<const Centroids>(
          clustering::find_centroids(training.values, training.dimensions, clusters_, seed_));
      if (found->count() < 2)
        fail(Fault::mismatch,
             "{}: the training records do not differ in layer '{}', so there are no clusters; name another "
             "layer, or give more records",
             spec(), training.layer);
      if (found->count() < clusters_)
        fail(Fault::mismatch,
             "{}: the training records have {} different activations in layer '{}', fewer than clusters; "
             "give clusters={} or less, or more records",
             spec(), found->count(), training.layer, found->count());
      return found;
    });
  }

  // A box around the centroid that lies nearer to it than to any other.
  static std::vector<Aim> towards(const LayerItems& layer, const Centroids& centroids, std::size_t cluster) {
    const double margin =
        centroids.least_distance(cluster) / (4 * std::sqrt(static_cast<double>(centroids.dimensions)));
    std::vector<Aim> way;
    for (std::size_t n = 0; n < centroids.dimensions; ++n) {
      const double middle = centroids.values[cluster * centroids.dimensions + n];
      way.push_back({.layer = layer.position, .neuron = n, .low = middle - margin, .high = middle + margin});
    }
    return way;
  }

  std::size_t clusters_;
  std::uint64_t seed_;
  std::vector<std::shared_ptr<const Centroids>> centroids_;  // per layer; null in states without the profile
};

}  // namespace

CriterionInfo scc_criterion() {
  return {
      .name = "scc",
      .summary = "semantic cluster coverage: clusters of training records that a record falls into",
      .definition =
          "clusters of the training records' activations in a layer (k-means) whose centroid is the "
          "nearest to at least one record, divided by all clusters; in a view of directions, in the space "
          "of the concepts",
      .limits =
          "says nothing of what is far from all clusters; clusters depend on the seed and on the "
          "scales of neurons",
      .paper =
          "Zhang et al., RACA: Representation-Aware Coverage Criteria for LLM Safety Testing, "
          "arXiv:2602.02280, 2026",
      .options = {{"clusters", "32", "clusters of a layer"},
                  {"seed", "0", "of the centroids that k-means starts from"}},
      .needs = CriterionInfo::Needs::traces,
      .all_layers = false,
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<ClusterCoverage>(setup);
      }};
}

}  // namespace assay::coverage
