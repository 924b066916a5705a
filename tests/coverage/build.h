#pragma once

// Profiles, activations and batches made by hand for the tests of coverage.

#include <string>
#include <vector>

#include "assay/coverage/criterion.h"
#include "assay/coverage/profile.h"
#include "assay/support/random.h"

namespace assay::test {

inline ImportantNeuron important(std::size_t neuron, std::vector<double> centroids) {
  Clustering clusters;
  clusters.sizes.assign(centroids.size(), 1);
  clusters.centroids = std::move(centroids);
  return {neuron, 1.0, std::move(clusters)};
}

// Three important neurons of five: 4 (clusters around 0 and 1), 0 (around 0, 1 and 2), 2 (one cluster).
inline LayerProfile small_layer(const std::string& name = "hidden") {
  return {name, 5, {important(4, {0, 1}), important(0, {0, 1, 2}), important(2, {7})}, {2, 3}};
}

// Records of activations of one layer, given to criteria in batches.
class Suite {
 public:
  explicit Suite(std::size_t neurons, std::string layer = "hidden") : neurons_(neurons) { layer_.name = std::move(layer); }

  static Suite random(std::size_t records, std::uint64_t seed) {
    Suite suite(5);
    Rng rng(seed);
    for (std::size_t i = 0; i < records; ++i) {
      std::vector<float> row(5);
      for (float& value : row) value = static_cast<float>(0.7 * rng.normal() + 0.5);
      suite.add(row);
    }
    return suite;
  }

  Suite& add(const std::vector<float>& row) {
    rows_.push_back(row);
    return *this;
  }
  std::size_t size() const { return rows_.size(); }
  const std::vector<float>& row(std::size_t i) const { return rows_[i]; }

  void give(Criterion& criterion, const std::vector<std::size_t>& indices) const {
    Activations activations{indices.size(), neurons_, {}};
    for (const std::size_t i : indices) activations.values.insert(activations.values.end(), rows_[i].begin(), rows_[i].end());
    criterion.observe({indices, {&layer_, 1}, {&activations, 1}});
  }
  // Records [begin, end) in batches of `batch`.
  void give(Criterion& criterion, std::size_t begin, std::size_t end, std::size_t batch = 16) const {
    for (std::size_t at = begin; at < end; at += batch) {
      std::vector<std::size_t> indices;
      for (std::size_t i = at; i < std::min(end, at + batch); ++i) indices.push_back(i);
      give(criterion, indices);
    }
  }
  void give(Criterion& criterion) const { give(criterion, 0, size()); }

 private:
  std::size_t neurons_;
  Layer layer_;
  std::vector<std::vector<float>> rows_;
};

}  // namespace assay::test
