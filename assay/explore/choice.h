#pragma once

// Chooses the way to cover something new that a search climbs (docs/algorithms/exploration.md).

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <assay/extend/abilities.h>
#include <assay/extend/catalogue.h>
#include <assay/extend/criterion.h>
#include <assay/extend/random.h>
#include <assay/profile.h>

namespace assay::explore {

// Numbers that belong to neurons, by layer of the profile.
template <typename T>
using ByNeuron = std::vector<std::vector<T>>;

struct ChoiceView {
  std::span<const std::vector<coverage::Aim>> ways;  // at least one
  const coverage::ActivationBatch& batch;            // the record is row `row` of it
  std::size_t row = 0;
  const coverage::Profile& profile;
  const ByNeuron<std::uint32_t>&
      active;  // records so far that activate the neuron above its mean in training
  const ByNeuron<float>* relevance = nullptr;  // of the seed's decision, for choices that ask for it
  Rng& rng;
};

// How far a record is from a way, in standard deviations of the neurons over the training set: the sum over
// its aims.
double gap(const ChoiceView& view, std::span<const coverage::Aim> way);

// Adding a choice: a function and a line in choice.cpp, a test, a line in docs/algorithms/exploration.md.
struct NeuronChoice {
  std::string name, summary;
  bool needs_relevance = false;
  // Position among the ways.
  std::function<std::size_t(const ChoiceView& view)> choose = {};
};

// random, rarest, nearest, relevant.
Catalogue<NeuronChoice>& neuron_choices();

}  // namespace assay::explore
