#pragma once

// Profiles, activations and batches made by hand for the tests of coverage.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <assay/extend/criteria.h>
#include <assay/extend/criterion.h>
#include <assay/extend/random.h>
#include <assay/profile.h>

namespace assay::test {
using namespace coverage;

// Activations of two layers, "first" of 6 neurons and "second" of 5, given to criteria in batches.
class Suite {
 public:
  static constexpr std::size_t widths[] = {6, 5};
  static constexpr std::int64_t classes = 3;

  // Like rectified layers: many zeros; the greatest activation of "second" among the first three neurons is
  // the class.
  static Suite random(std::size_t records, std::uint64_t seed, double spread = 1) {
    Suite suite;
    Rng rng(seed);
    for (std::size_t i = 0; i < records; ++i) {
      std::vector<float> rows[2];
      for (std::size_t l = 0; l < 2; ++l) {
        for (std::size_t n = 0; n < widths[l]; ++n)
          rows[l].push_back(static_cast<float>(std::max(0.0, spread * rng.normal() + 0.4)));
      }
      suite.add(rows[0], rows[1]);
    }
    return suite;
  }

  Suite& add(const std::vector<float>& first, const std::vector<float>& second) {
    rows_[0].push_back(first);
    rows_[1].push_back(second);
    predicted_.push_back(std::max_element(second.begin(), second.begin() + classes) - second.begin());
    return *this;
  }
  std::size_t size() const { return predicted_.size(); }
  const std::vector<float>& row(std::size_t layer, std::size_t record) const { return rows_[layer][record]; }
  const std::vector<std::int64_t>& predicted() const { return predicted_; }

  void give(Criterion& criterion, const std::vector<std::size_t>& indices) const {
    with_batch(indices, [&](const ActivationBatch& batch) { criterion.observe(batch); });
  }
  void with_batch(const std::vector<std::size_t>& indices,
                  const std::function<void(const ActivationBatch&)>& use) const {
    std::vector<Activations> layers;
    std::vector<std::vector<float>> least, greatest;
    std::vector<std::int64_t> predicted;
    for (std::size_t l = 0; l < 2; ++l) {
      Activations activations{indices.size(), widths[l], {}};
      least.emplace_back();
      greatest.emplace_back();
      for (const std::size_t i : indices) {
        const auto& row = rows_[l][i];
        activations.values.insert(activations.values.end(), row.begin(), row.end());
        least.back().push_back(*std::min_element(row.begin(), row.end()));
        greatest.back().push_back(*std::max_element(row.begin(), row.end()));
      }
      layers.push_back(std::move(activations));
    }
    for (const std::size_t i : indices) predicted.push_back(predicted_[i]);
    use({indices, layers, least, greatest, predicted, predicted});
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
  std::vector<std::vector<float>> rows_[2];
  std::vector<std::int64_t> predicted_;
};

inline ImportantNeuron important(std::size_t neuron, std::vector<double> centroids) {
  clustering::Clustering clusters;
  clusters.sizes.assign(centroids.size(), 1);
  clusters.centroids = std::move(centroids);
  return {neuron, 1.0, std::move(clusters), {}};
}

// The plain way to what learn_profile() learns, with three important neurons of "second": 4 (clusters around
// 0 and 1), 0 (around 0, 1 and 2), 2 (one cluster).
inline Profile profile_of(const Suite& training) {
  Profile profile;
  profile.model_hash = "model";
  profile.data_hash = "data";
  profile.data = "some records";
  profile.records = training.size();
  profile.method = "epsilon";
  profile.clusterer = "kmeans";
  const std::string names[] = {"first", "second"};
  for (std::size_t l = 0; l < 2; ++l) {
    LayerStatistics layer;
    layer.layer = names[l];
    layer.op = "Gemm + Relu";
    layer.floor = 0;
    for (std::size_t n = 0; n < Suite::widths[l]; ++n) {
      double sum = 0, squares = 0;
      float low = training.row(l, 0)[n], high = low;
      for (std::size_t i = 0; i < training.size(); ++i) {
        const float value = training.row(l, i)[n];
        low = std::min(low, value);
        high = std::max(high, value);
        sum += value;
        squares += static_cast<double>(value) * value;
      }
      const auto count = static_cast<double>(training.size());
      layer.low.push_back(low);
      layer.high.push_back(high);
      layer.mean.push_back(sum / count);
      layer.deviation.push_back(std::sqrt(std::max(0.0, squares / count - sum / count * sum / count)));
      layer.same_as.push_back(static_cast<std::uint32_t>(n));
      std::vector<float> sorted;
      for (std::size_t i = 0; i < training.size(); ++i) sorted.push_back(training.row(l, i)[n]);
      std::ranges::sort(sorted);
      for (const double share : {0.5, 0.99, 1.0})
        layer.quantiles[share].push_back(sorted[static_cast<std::size_t>(std::ceil(share * count)) - 1]);
    }
    profile.statistics.push_back(std::move(layer));
  }
  profile.clusters.push_back(
      {"second", {important(4, {0, 1}), important(0, {0, 1, 2}), important(2, {7})}, 2, {}});
  std::set<std::string> reached;
  for (std::size_t i = 0; i < training.size(); ++i) {
    const std::vector<float>& row = training.row(1, i);
    const char of_4 = row[4] > 0.5 ? 1 : 0, of_0 = row[0] > 1.5 ? 2 : row[0] > 0.5 ? 1 : 0;
    reached.insert({of_4, of_0, 0});
  }
  profile.clusters[0].combinations.assign(reached.begin(), reached.end());
  auto traces = std::make_shared<LayerTraces>();
  traces->layer = "second";
  traces->dimensions = 5;
  for (std::size_t i = 0; i < training.size(); ++i)
    traces->values.insert(traces->values.end(), training.row(1, i).begin(), training.row(1, i).end());
  traces->predicted = traces->labels = training.predicted();
  profile.traced = {"second"};
  profile.traces = {traces};
  return profile;
}

inline const Profile& profile() {
  static const Profile made = profile_of(Suite::random(200, 77));
  return made;
}

inline std::unique_ptr<Criterion> criterion(const std::string& spec, const Profile& of = profile()) {
  return make_criterion(of, parse_spec("criterion", spec));
}

inline Coverage row(const Criterion& criterion, const std::string& layer) {
  for (const Coverage& coverage : criterion.result()) {
    if (coverage.layer == layer) return coverage;
  }
  return {};
}

}  // namespace assay::test
