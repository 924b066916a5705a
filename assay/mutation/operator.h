#pragma once

// What a mutation operator is. The framework decides where (how many sites, which layer, which weights or neurons), the
// operator what happens there.

#include <cstdint>
#include <string>
#include <vector>

#include "assay/mutation/edit.h"
#include "assay/mutation/subject.h"
#include "assay/support/random.h"
#include "assay/support/spec.h"

namespace assay {

// Where one mutant strikes in one layer.
struct Strike {
  const SubjectLayer& layer;
  const SpecOptions& options;
  // Weight level: positions in [0, weights of the layer); see weight_at(). Neuron level: neurons. Ascending and distinct.
  // Empty for layer level.
  const std::vector<std::int64_t>& sites;
  Rng& rng;
};

struct OperatorInfo {
  enum class Level { weight, neuron, layer };

  std::string name, title;    // "gf", "Gaussian fuzzing"
  std::string summary;        // one line
  std::string definition;     // what is changed, exactly
  std::string limits;         // what it cannot do or does not tell
  std::string paper;
  Level level = Level::weight;
  std::vector<SpecOption> options = {};
  // Layer level: how many different mutants one layer can give at most.
  std::int64_t variants = 1;
  // Why the operator cannot act on the layer; empty when it can. Throws Error{usage} for options out of range.
  std::string (*refusal)(const SubjectLayer& layer, const SpecOptions& options);
  // REQUIRES an empty refusal(). May find nothing to change at these sites.
  void (*apply)(const Strike& target, Edit& edit);
};

// Weight `position` of a layer: of its weights one after another, then of its biases.
struct WeightPlace {
  const LayerWeights& weights;
  std::int64_t index;
};
WeightPlace weight_at(const SubjectLayer& layer, std::int64_t position);

// Calls change(weight) for each site of a weight-level operator and stores what it returns.
template <typename Function>
void change_weights(const Strike& target, Edit& edit, Function&& change) {
  for (const std::int64_t site : target.sites) {
    const auto [weights, index] = weight_at(target.layer, site);
    edit.set_weight(target.layer, weights, index, change(edit.weight(weights, index)));
  }
}

// The same for all weights of the layer, biases left out.
template <typename Function>
void change_all_weights(const Strike& target, Edit& edit, Function&& change) {
  for (const LayerWeights& weights : target.layer.weights) {
    for (std::int64_t i = 0; i < weights.count; ++i) edit.set_weight(target.layer, weights, i, change(edit.weight(weights, i)));
  }
}

// "input [6, 12, 12] and output [16, 8, 8] differ", for refusals.
std::string shapes_differ(const SubjectLayer& layer);

}  // namespace assay
