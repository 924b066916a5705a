#include "assay/coverage/criteria/idc.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/same_criterion.h"
#include "assay/support/ascii.h"
#include "assay/support/files/hash.h"
#include "assay/support/numbers/exact_count.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;
using Step = Idc::Covered::Step;

// Smaller gap first, then the earlier record, so that the order of observation does not matter.
void keep_nearer(std::optional<Step>& kept, const Step& step) {
  if (!kept || step.gap < kept->gap || (step.gap == kept->gap && step.record < kept->record)) kept = step;
}

bool same_clusters(const ImportantNeuron& a, const ImportantNeuron& b) {
  return a.neuron == b.neuron && a.clusters.centroids == b.clusters.centroids;
}

std::uint64_t item_of(const Idc::LayerCombinations& layer, const Combination& combination) {
  const std::string named = layer.name + combination;
  return hash_128(named.data(), named.size())[0];
}

}  // namespace

Idc::Idc(std::string spec, const Profile& profile, std::span<const std::size_t> layers, std::size_t m)
    : spec_(std::move(spec)) {
  for (const std::size_t position : layers) {
    const std::string& name = profile.statistics[position].layer;
    const auto found = std::ranges::find(profile.clusters, name, &LayerClusters::layer);
    if (found == profile.clusters.end()) continue;
    const std::size_t wanted = m == 0 ? found->auto_m : m;
    LayerCombinations layer{name, position, {}, {}};
    layer.neurons.assign(found->important.begin(),
                         found->important.begin() + std::min(wanted, found->important.size()));
    for (const ImportantNeuron& neuron : layer.neurons) {
      if (neuron.clusters.centroids.size() > most_clusters) {
        fail(Fault::usage,
             "neuron {} of layer '{}' has {} clusters; idc takes at most {}, lower the largest cluster count",
             neuron.neuron, name, neuron.clusters.centroids.size(), most_clusters);
      }
    }
    if (found->important.size() < wanted &&
        found->important.size() < profile.statistics[position].counted()) {
      fail(Fault::mismatch,
           "{}: the profile has clusters for {} neurons of layer '{}'; learn it again with a larger m", spec_,
           found->important.size(), name);
    }
    layers_.push_back(std::move(layer));
  }
  if (layers_.empty())
    fail(Fault::mismatch, "{}: the profile has no important neurons of these layers; learn it again with idc",
         spec_);
}

void Idc::observe(const ActivationBatch& batch) {
  for (LayerCombinations& layer : layers_) {
    for (std::size_t r = 0; r < batch.indices.size(); ++r) {
      const Combination combination = layer.place(batch.indices[r], batch.layers[layer.position].row(r));
      if (collected_ == nullptr) continue;
      (*collected_)[batch.indices[r]].push_back(item_of(layer, combination));
    }
  }
}

void Idc::each_covered(const std::function<void(std::uint64_t)>& visit) const {
  for (const LayerCombinations& layer : layers_) {
    for (const auto& [combination, covered] : layer.covered) visit(item_of(layer, combination));
  }
}

Combination Idc::LayerCombinations::combination_of(std::span<const float> activations) const {
  Combination combination(neurons.size(), '\0');
  for (std::size_t i = 0; i < neurons.size(); ++i) {
    combination[i] = static_cast<char>(neurons[i].clusters.nearest(activations[neurons[i].neuron]));
  }
  return combination;
}

std::vector<Aim> Idc::LayerCombinations::aims_of(const Combination& combination) const {
  std::vector<Aim> aims;
  for (std::size_t i = 0; i < neurons.size(); ++i) {
    const auto& centroids = neurons[i].clusters.centroids;
    const std::size_t c = byte_of(combination[i]);
    Aim aim{.layer = position, .neuron = neurons[i].neuron};
    if (c > 0) aim.low = (centroids[c - 1] + centroids[c]) / 2;
    if (c + 1 < centroids.size()) aim.high = (centroids[c] + centroids[c + 1]) / 2;
    aims.push_back(aim);
  }
  return aims;
}

std::vector<std::vector<Aim>> Idc::aims(const ActivationBatch& batch, std::size_t row) const {
  std::vector<std::vector<Aim>> ways;
  for (const LayerCombinations& layer : layers_) {
    std::set<Combination> reached{layer.combination_of(batch.layers[layer.position].row(row))};
    std::vector<Combination> open;
    for (int step = 0; step < 2 && open.empty(); ++step) {
      std::set<Combination> next;
      for (const Combination& from : reached) {
        for (std::size_t i = 0; i < layer.neurons.size(); ++i) {
          Combination to = from;
          for (std::size_t c = 0; c < layer.neurons[i].clusters.centroids.size(); ++c) {
            to[i] = static_cast<char>(c);
            next.insert(to);
          }
        }
      }
      std::ranges::copy_if(next, std::back_inserter(open),
                           [&](const Combination& to) { return !layer.covered.contains(to); });
      reached = std::move(next);
    }
    for (const Combination& to : open) ways.push_back(layer.aims_of(to));
  }
  return ways;
}

std::vector<const std::pair<const Combination, Idc::Covered>*> Idc::LayerCombinations::in_order() const {
  std::vector<const std::pair<const Combination, Covered>*> entries;
  entries.reserve(covered.size());
  for (const auto& entry : covered) entries.push_back(&entry);
  std::ranges::sort(entries, {}, [](const auto* entry) -> const Combination& { return entry->first; });
  return entries;
}

Combination Idc::LayerCombinations::place(std::size_t record, std::span<const float> activations) {
  Combination combination = combination_of(activations);
  Covered& entry = covered[combination];
  if (entry.records++ == 0) {
    entry.first = record;
    entry.lower.resize(neurons.size());
    entry.higher.resize(neurons.size());
  }
  entry.first = std::min(entry.first, record);
  for (std::size_t i = 0; i < neurons.size(); ++i) {
    const auto& centroids = neurons[i].clusters.centroids;
    const std::size_t c = byte_of(combination[i]);
    const double value = activations[neurons[i].neuron];
    if (c > 0)
      keep_nearer(
          entry.lower[i],
          {(value - (centroids[c - 1] + centroids[c]) / 2) / (centroids[c] - centroids[c - 1]), record});
    if (c + 1 < centroids.size())
      keep_nearer(
          entry.higher[i],
          {((centroids[c] + centroids[c + 1]) / 2 - value) / (centroids[c + 1] - centroids[c]), record});
  }
  return combination;
}

void Idc::merge(const Criterion& other) {
  const auto* same = dynamic_cast<const Idc*>(&other);
  const auto fits = [](const LayerCombinations& a, const LayerCombinations& b) {
    return a.name == b.name && std::ranges::equal(a.neurons, b.neurons, same_clusters);
  };
  if (same == nullptr || !std::ranges::equal(layers_, same->layers_, fits)) {
    fail(Fault::mismatch, "{} cannot be merged with a criterion of another layer, m or profile", spec_);
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    for (const auto& [combination, theirs] : same->layers_[l].covered) {
      const auto [it, is_new] = layers_[l].covered.emplace(combination, theirs);
      if (is_new) continue;
      Covered& ours = it->second;
      ours.records += theirs.records;
      ours.first = std::min(ours.first, theirs.first);
      for (std::size_t i = 0; i < combination.size(); ++i) {
        if (theirs.lower[i]) keep_nearer(ours.lower[i], *theirs.lower[i]);
        if (theirs.higher[i]) keep_nearer(ours.higher[i], *theirs.higher[i]);
      }
    }
  }
}

std::vector<Coverage> Idc::result() const {
  std::vector<Coverage> rows;
  for (const LayerCombinations& layer : layers_) {
    ExactCount all(1);
    double fraction = layer.covered.size();
    for (const ImportantNeuron& neuron : layer.neurons) {
      all.multiply(static_cast<std::uint32_t>(neuron.clusters.centroids.size()));
      fraction /= neuron.clusters.centroids.size();
    }
    // Within 2^53 the quotient of the exact counts, beyond it the running quotient, which cannot overflow.
    const double whole = all.to_double();
    if (whole <= 0x1p53) fraction = layer.covered.size() / whole;
    const std::string covered = std::to_string(layer.covered.size());
    rows.push_back({.layer = layer.name,
                    .covered = covered,
                    .coverable = all.to_string(),
                    .value = fraction,
                    .attainable_covered = covered,
                    .attainable = all.to_string(),
                    .attainable_value = fraction,
                    .note = {}});
  }
  return rows;
}

Json Idc::save() const {
  const auto steps = [](const std::vector<std::optional<Step>>& list) {
    Json json = Json::array();
    for (const auto& step : list) json.push_back(step ? Json{step->gap, step->record} : Json());
    return json;
  };
  Json json = Json::array();
  for (const LayerCombinations& layer : layers_) {
    Json entries = Json::array();
    for (const auto* entry : layer.in_order()) {
      const auto& [combination, covered] = *entry;
      entries.push_back({Json::binary({combination.begin(), combination.end()}), covered.records,
                         covered.first, steps(covered.lower), steps(covered.higher)});
    }
    json.push_back(std::move(entries));
  }
  return json;
}

void Idc::load(const Json& state) {
  require_layers(state, layers_.size(), spec_);
  const auto steps = [&](const Json& json, std::size_t count) {
    if (json.size() != count)
      throw std::runtime_error(spec_ + ": a combination has the wrong number of neurons");
    std::vector<std::optional<Step>> list;
    for (const Json& step : json)
      list.push_back(step.is_null()
                         ? std::nullopt
                         : std::optional<Step>({step.at(0).get<double>(), step.at(1).get<std::size_t>()}));
    return list;
  };
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    LayerCombinations& layer = layers_[l];
    layer.covered.clear();
    for (const Json& entry : state[l]) {
      const auto& bytes = entry.at(0).get_binary();
      bool sound = bytes.size() == layer.neurons.size();
      for (std::size_t i = 0; sound && i < bytes.size(); ++i)
        sound = bytes[i] < layer.neurons[i].clusters.centroids.size();
      if (!sound) throw std::runtime_error(spec_ + ": a combination names clusters that do not exist");
      layer.covered.emplace(Combination(bytes.begin(), bytes.end()),
                            Covered{entry.at(1).get<std::uint64_t>(), entry.at(2).get<std::size_t>(),
                                    steps(entry.at(3), bytes.size()), steps(entry.at(4), bytes.size())});
    }
  }
}

std::vector<Difference> Idc::difference(const Criterion& other, std::size_t examples) const {
  const auto* there = dynamic_cast<const Idc*>(&other);
  if (there == nullptr) fail(Fault::mismatch, "{} cannot be compared with another criterion", spec_);
  std::vector<Difference> differences;
  for (const LayerCombinations& ours : layers_) {
    const auto match = std::ranges::find(there->layers_, ours.name, &LayerCombinations::name);
    if (match == there->layers_.end() || !std::ranges::equal(ours.neurons, match->neurons, same_clusters))
      continue;
    Difference difference;
    difference.layer = ours.name;
    const auto one_side = [&](const LayerCombinations& a, const LayerCombinations& b, bool here) {
      for (const auto* entry : a.in_order()) {
        if (b.covered.contains(entry->first)) continue;
        difference.add(
            examples, here, [&] { return "combination " + to_text(entry->first); }, entry->second.first);
      }
    };
    one_side(ours, *match, true);
    one_side(*match, ours, false);
    difference.both = ours.covered.size() - difference.only_here;
    differences.push_back(std::move(difference));
  }
  return differences;
}

std::vector<std::size_t> Idc::first_records() const {
  std::set<std::size_t> records;
  for (const LayerCombinations& layer : layers_) {
    for (const auto& [combination, covered] : layer.covered) records.insert(covered.first);
  }
  return {records.begin(), records.end()};
}

std::vector<Idc::Neighbour> Idc::LayerCombinations::nearest_uncovered(std::size_t count) const {
  std::map<Combination, Neighbour> found;
  const auto consider = [&](Combination combination, std::size_t neuron, int direction,
                            const std::optional<Step>& step) {
    if (!step) return;
    combination[neuron] = static_cast<char>(combination[neuron] + direction);
    if (covered.contains(combination)) return;
    const Neighbour neighbour{combination, neuron, step->gap, step->record};
    const auto [it, is_new] = found.emplace(combination, neighbour);
    if (!is_new && std::pair(step->gap, step->record) < std::pair(it->second.gap, it->second.record))
      it->second = neighbour;
  };
  for (const auto& [combination, entry] : covered) {
    for (std::size_t i = 0; i < neurons.size(); ++i) {
      consider(combination, i, -1, entry.lower[i]);
      consider(combination, i, +1, entry.higher[i]);
    }
  }
  std::vector<Neighbour> nearest;
  for (auto& [combination, neighbour] : found) nearest.push_back(std::move(neighbour));
  std::stable_sort(nearest.begin(), nearest.end(),
                   [](const Neighbour& a, const Neighbour& b) { return a.gap < b.gap; });
  nearest.resize(std::min(nearest.size(), count));
  return nearest;
}

SpecOption important_option() {
  return {"m", "6",
          "important neurons, or auto: the fewest that hold the share of relevance asked for when the "
          "profile was learned"};
}

std::size_t important_count(const SpecOptions& options) {
  return options.text("m") == "auto" ? 0 : options.count("m", 1);
}

std::string to_text(const Combination& combination) {
  std::string text;
  for (const char c : combination) {
    if (!text.empty()) text += '.';
    text += std::to_string(byte_of(c));
  }
  return text;
}

CriterionInfo idc_criterion() {
  return {
      .name = "idc",
      .summary = "importance-driven coverage: combinations of activation clusters of the important neurons",
      .definition =
          "covered combinations of clusters, one cluster per important neuron, divided by all such "
          "combinations (the product of the cluster counts); a record covers the combination of the nearest "
          "centroids of its activations",
      .limits =
          "falls fast with m, since combinations multiply; clusters of correlated neurons make combinations "
          "that no input reaches",
      .paper = "Gerasimou et al., Importance-Driven Deep Learning System Testing, ICSE 2020",
      .options = {important_option()},
      .needs = CriterionInfo::Needs::clusters,
      .all_layers = false,
      .of_neurons = true,
      .names_combinations = true,
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<Idc>(setup.spec.text(), setup.profile, setup.layers,
                                     important_count(setup.options));
      }};
}

}  // namespace assay::coverage
