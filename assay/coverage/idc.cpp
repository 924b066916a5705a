#include "assay/coverage/idc.h"

#include <algorithm>
#include <cmath>

#include "assay/coverage/catalogue.h"
#include "assay/support/error.h"
#include "assay/support/exact_count.h"

namespace assay {
namespace {

using Step = Idc::Covered::Step;

// Smaller gap first, then the earlier record, so that the order of observation does not matter.
void keep_nearer(std::optional<Step>& kept, const Step& step) {
  if (!kept || step.gap < kept->gap || (step.gap == kept->gap && step.record < kept->record)) kept = step;
}

bool same_clusters(const ImportantNeuron& a, const ImportantNeuron& b) {
  return a.neuron == b.neuron && a.clusters.centroids == b.clusters.centroids;
}

}  // namespace

Idc::Idc(const LayerProfile& profile, std::size_t m)
    : layer_(profile.layer), neurons_(profile.important.begin(), profile.important.begin() + static_cast<std::ptrdiff_t>(std::min(m, profile.important.size()))) {
  for (const ImportantNeuron& neuron : neurons_) {
    if (neuron.clusters.centroids.size() > 255) {
      fail(Fault::usage, "layer '{}': neuron {} has {} clusters, a combination can tell 255 apart; use a smaller --max-k", layer_, neuron.neuron,
           neuron.clusters.centroids.size());
    }
  }
}

void Idc::observe(const ActivationBatch& batch) {
  for (std::size_t l = 0; l < batch.layers.size(); ++l) {
    if (batch.layers[l].name != layer_) continue;
    for (std::size_t row = 0; row < batch.activations[l].rows; ++row) place(batch.indices[row], batch.activations[l].row(row));
  }
}

void Idc::place(std::size_t record, std::span<const float> activations) {
  Combination combination(neurons_.size(), '\0');
  for (std::size_t i = 0; i < neurons_.size(); ++i) {
    const float value = activations[neurons_[i].neuron];
    if (!std::isfinite(value)) {
      ++non_finite_;
      return;
    }
    combination[i] = static_cast<char>(neurons_[i].clusters.nearest(value));
  }
  Covered& entry = covered_[combination];
  if (entry.records++ == 0) {
    entry.first = record;
    entry.lower.resize(neurons_.size());
    entry.higher.resize(neurons_.size());
  }
  entry.first = std::min(entry.first, record);
  for (std::size_t i = 0; i < neurons_.size(); ++i) {
    const auto& centroids = neurons_[i].clusters.centroids;
    const auto c = static_cast<std::size_t>(static_cast<unsigned char>(combination[i]));
    const double value = activations[neurons_[i].neuron];
    if (c > 0) keep_nearer(entry.lower[i], {(value - (centroids[c - 1] + centroids[c]) / 2) / (centroids[c] - centroids[c - 1]), record});
    if (c + 1 < centroids.size()) keep_nearer(entry.higher[i], {((centroids[c] + centroids[c + 1]) / 2 - value) / (centroids[c + 1] - centroids[c]), record});
  }
}

void Idc::merge(const Criterion& other) {
  const auto* same = dynamic_cast<const Idc*>(&other);
  if (same == nullptr || same->layer_ != layer_ || !std::equal(neurons_.begin(), neurons_.end(), same->neurons_.begin(), same->neurons_.end(), same_clusters)) {
    fail(Fault::mismatch, "idc of layer '{}' cannot be merged with a criterion of another layer, m or profile", layer_);
  }
  non_finite_ += same->non_finite_;
  for (const auto& [combination, theirs] : same->covered_) {
    const auto [it, is_new] = covered_.emplace(combination, theirs);
    if (is_new) continue;
    Covered& ours = it->second;
    ours.records += theirs.records;
    ours.first = std::min(ours.first, theirs.first);
    for (std::size_t i = 0; i < neurons_.size(); ++i) {
      if (theirs.lower[i]) keep_nearer(ours.lower[i], *theirs.lower[i]);
      if (theirs.higher[i]) keep_nearer(ours.higher[i], *theirs.higher[i]);
    }
  }
}

Coverage Idc::result() const {
  ExactCount all(1);
  double fraction = static_cast<double>(covered_.size());
  for (const ImportantNeuron& neuron : neurons_) {
    all.multiply(static_cast<std::uint32_t>(neuron.clusters.centroids.size()));
    fraction /= static_cast<double>(neuron.clusters.centroids.size());
  }
  // Within 2^53 the quotient of the exact counts, beyond it the running quotient, which cannot overflow.
  const double whole = all.to_double();
  if (whole <= 0x1p53) fraction = static_cast<double>(covered_.size()) / whole;
  return {std::to_string(covered_.size()), all.to_string(), fraction};
}

std::vector<Idc::Neighbour> Idc::nearest_uncovered(std::size_t count) const {
  std::map<Combination, Neighbour> found;
  const auto consider = [&](Combination combination, std::size_t neuron, int direction, const std::optional<Step>& step) {
    if (!step) return;
    combination[neuron] = static_cast<char>(combination[neuron] + direction);
    if (covered_.contains(combination)) return;
    const Neighbour neighbour{combination, neuron, step->gap, step->record};
    const auto [it, is_new] = found.emplace(combination, neighbour);
    if (!is_new && std::pair(step->gap, step->record) < std::pair(it->second.gap, it->second.record)) it->second = neighbour;
  };
  for (const auto& [combination, entry] : covered_) {
    for (std::size_t i = 0; i < neurons_.size(); ++i) {
      consider(combination, i, -1, entry.lower[i]);
      consider(combination, i, +1, entry.higher[i]);
    }
  }
  std::vector<Neighbour> nearest;
  for (auto& [combination, neighbour] : found) nearest.push_back(std::move(neighbour));
  std::stable_sort(nearest.begin(), nearest.end(), [](const Neighbour& a, const Neighbour& b) { return a.gap < b.gap; });
  nearest.resize(std::min(nearest.size(), count));
  return nearest;
}

std::string to_text(const Combination& combination) {
  std::string text;
  for (const char c : combination) {
    if (!text.empty()) text += '.';
    text += std::to_string(static_cast<unsigned char>(c));
  }
  return text;
}

CriterionInfo idc_criterion() {
  return {"idc", "importance-driven coverage: combinations of activation clusters of the important neurons",
          "covered combinations of clusters, one cluster per important neuron, divided by all such combinations (the product of the cluster counts); "
          "a record covers the combination of the nearest centroids of its activations",
          "Gerasimou et al., Importance-Driven Deep Learning System Testing, ICSE 2020",
          [](const LayerProfile& profile, std::size_t m) -> std::unique_ptr<Criterion> { return std::make_unique<Idc>(profile, m); }};
}

}  // namespace assay
