#include "assay/explore/choice.h"
#include <assay/extend/abilities.h>

#include <algorithm>
#include <array>
#include <functional>

#include <assay/error.h>
#include "assay/support/text/text.h"

namespace assay::explore {
namespace {

float activation_of(const ChoiceView& view, const coverage::Aim& aim) {
  return view.batch.layers[aim.layer].row(view.row)[aim.neuron];
}

// The way of greatest merit; among equals one at random.
std::size_t best(const ChoiceView& view, const std::function<double(std::span<const coverage::Aim>)>& merit) {
  std::vector<std::size_t> leaders;
  double most = 0;
  for (std::size_t i = 0; i < view.ways.size(); ++i) {
    const double own = merit(view.ways[i]);
    if (leaders.empty() || own > most) leaders.clear();
    if (leaders.empty() || own == most) {
      most = own;
      leaders.push_back(i);
    }
  }
  return leaders[view.rng.below(leaders.size())];
}

double mean_over(std::span<const coverage::Aim> way,
                 const std::function<double(const coverage::Aim&)>& number) {
  double sum = 0;
  for (const coverage::Aim& aim : way) sum += number(aim);
  return sum / way.size();
}

std::size_t any(const ChoiceView& view) { return view.rng.below(view.ways.size()); }

std::size_t rarest(const ChoiceView& view) {
  return best(view, [&](std::span<const coverage::Aim> way) {
    return -mean_over(way, [&](const coverage::Aim& aim) {
      return static_cast<double>(view.active[aim.layer][aim.neuron]);
    });
  });
}

std::size_t nearest(const ChoiceView& view) {
  return best(view, [&](std::span<const coverage::Aim> way) { return -gap(view, way); });
}

std::size_t relevant(const ChoiceView& view) {
  return best(view, [&](std::span<const coverage::Aim> way) {
    return mean_over(way, [&](const coverage::Aim& aim) {
      return static_cast<double>((*view.relevance)[aim.layer][aim.neuron]);
    });
  });
}

}  // namespace

double gap(const ChoiceView& view, std::span<const coverage::Aim> way) {
  double sum = 0;
  for (const coverage::Aim& aim : way) {
    const double value = activation_of(view, aim),
                 deviation = view.profile.statistics[aim.layer].deviation[aim.neuron];
    sum += std::max({0.0, aim.low - value, value - aim.high}) / (deviation > 0 ? deviation : 1);
  }
  return sum;
}

Catalogue<NeuronChoice>& neuron_choices() {
  static Catalogue<NeuronChoice> all(
      {"choice of neurons"},
      {{"random", "any that is not yet covered", false, any},
       {"rarest", "the neuron that fewest records so far activate above its mean in training", false, rarest},
       {"nearest", "what the record comes nearest to, in standard deviations of the neuron", false, nearest},
       {"relevant",
        "the neuron that carries most of the seed's decision, by layer-wise relevance propagation", true,
        relevant}});
  return all;
}

}  // namespace assay::explore
