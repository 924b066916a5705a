#include "assay/explore/joint_objective.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include <assay/evaluate.h>
#include "assay/engine/elements.h"
#include "assay/support/numbers/simd_sums.h"
#include "assay/task/standing.h"

namespace assay::explore {

JointObjective::JointObjective(std::size_t network, const attack::AttackedNetwork& attacked,
                               const Guide& guide, const SearchOptions& options)
    : k_(network),
      network_(attacked),
      guide_(guide),
      options_(options),
      values_{attacked.decision()},
      begins_{0},
      outputs_(attacked, {}) {
  if (options.lambda2 == 0) return;
  const Session& session = attacked.session();
  const coverage::Profile& profile = guide.profile(network);
  std::size_t end = element_count(session.shape(attacked.decision()));
  for (const coverage::LayerStatistics& statistics : profile.statistics) {
    const Layer& layer = session.layer(statistics.layer);
    const auto known = std::ranges::find(values_, layer.value);
    layers_.emplace_back(known - values_.begin(), RecordNeurons(session, layer, profile.reduction));
    if (known != values_.end()) continue;
    values_.push_back(layer.value);
    begins_.push_back(end);
    end += layers_.back().second.elements();
  }
}

void JointObjective::climb(SearchRow& row, std::span<const float> elements, std::span<float> gradients,
                           Rng rng) const {
  const std::size_t outputs = values_.size() > 1 ? begins_[1] : elements.size();
  if (options_.disagreement.task) {
    climb_items(row, elements.first(outputs), gradients);
  } else if (network_.regression()) {
    for (float& gradient : gradients.first(outputs)) gradient += weight(row);
  } else {
    const attack::AttackedNetwork::Objective disagreement = [&](std::size_t, std::span<const float> scores,
                                                                std::span<float> of_scores) {
      disagree(row, scores, of_scores);
    };
    outputs_.differentiate(std::span(&disagreement, 1), 0, elements.first(outputs), gradients.first(outputs));
  }
  if (options_.lambda2 == 0) return;
  std::optional<std::vector<coverage::Aim>>& aims = row.aims[k_];
  if (!options_.choose_once || !aims) aims = choose(row, elements, rng);
  const auto share = static_cast<float>(options_.lambda2 / static_cast<double>(aims->size()));
  for (const coverage::Aim& aim : *aims) lift(aim, share, elements, gradients);
}

// Towards where the aim is, `share` for each unit of activation.
void JointObjective::lift(const coverage::Aim& aim, float share, std::span<const float> elements,
                          std::span<float> gradients) const {
  const auto& [value, neurons] = layers_[aim.layer];
  const auto of_layer = elements.subspan(begins_[value], neurons.elements());
  const double now = neurons.activation(of_layer, aim.neuron);
  const float way = now < aim.low ? 1 : now > aim.high ? -1 : !aim.beyond ? 0 : std::isinf(aim.high) ? 1 : -1;
  neurons.lift(of_layer, aim.neuron, way * share, gradients.subspan(begins_[value], neurons.elements()));
}

// The mean score of the items that the network still decides as all did on the seed, weighted alike; where
// none is left, of all of them that have a position, as for the class of a record.
void JointObjective::climb_items(const SearchRow& row, std::span<const float> outputs,
                                 std::span<float> gradients) const {
  const task::Task& task = *options_.disagreement.task;
  const std::vector<task::Lead> leads = task.leads(outputs, row.items);
  std::vector<float> weights(outputs.size());
  const auto holds = [&](std::size_t i) { return row.items.classes[i] != no_class && leads[i].holds; };
  const bool all =
      row.items.places.empty() && std::ranges::none_of(std::views::iota(std::size_t{0}, leads.size()), holds);
  float count = 0;
  for (std::size_t i = 0; i < leads.size(); ++i) {
    if (row.items.classes[i] == no_class || !(all || leads[i].holds)) continue;
    task.explain(outputs, leads[i], weights);
    ++count;
  }
  if (count == 0) return;
  for (std::size_t e = 0; e < weights.size(); ++e) gradients[e] += weight(row) * weights[e] / count;
}

// F_k[c], or -lambda1 F_k[c] where the network is the target.
void JointObjective::disagree(const SearchRow& row, std::span<const float> scores,
                              std::span<float> gradients) const {
  const std::size_t label = row.label;
  if (!options_.probability) {
    gradients[label] += weight(row);
    return;
  }
  const float greatest = std::ranges::max(scores);
  float sum = 0;
  for (const float score : scores) sum += std::exp(score - greatest);
  const auto probability = [&](std::size_t c) { return std::exp(scores[c] - greatest) / sum; };
  for (std::size_t c = 0; c < scores.size(); ++c)
    gradients[c] += weight(row) * probability(label) * ((c == label ? 1.0F : 0.0F) - probability(c));
}

float JointObjective::weight(const SearchRow& row) const {
  return row.direction * (row.target == k_ ? -static_cast<float>(options_.lambda1) : 1.0F);
}

// New aims for a search, from the activations at its record.
std::vector<coverage::Aim> JointObjective::choose(const SearchRow& row, std::span<const float> elements,
                                                  Rng rng) const {
  coverage::Observer::Seen seen;
  for (const auto& [value, neurons] : layers_) {
    const auto of_layer = elements.subspan(begins_[value], neurons.elements());
    seen.layers.push_back({1, neurons.size(), neurons.activations(of_layer)});
    if (!guide_.wants_extremes()) continue;
    const Extremes ends = extremes(of_layer);
    seen.least.push_back({ends.least});
    seen.greatest.push_back({ends.greatest});
  }
  seen.predicted = {row.label};
  return guide_.pick(k_, seen.batch(std::span(&row.seed, 1), seen.predicted), 0,
                     row.relevance.empty() ? nullptr : &row.relevance[k_], rng);
}

}  // namespace assay::explore
