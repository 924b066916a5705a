#pragma once

// What a mutation operator is: the framework decides where (how many sites, which layer, which weights or
// neurons), the operator what happens there; the catalogue of operators; and a mutant, which is operator,
// place and seed: a few bytes that always make the same mutated network from the same original
// (docs/algorithms/mutation-operators.md).

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <assay/extend/catalogue.h>
#include <assay/extend/mutation_edit.h>
#include <assay/extend/mutation_program.h>
#include <assay/extend/random.h>

namespace assay::mutation {

// Where one mutant strikes in one layer.
struct MutationSite {
  const SubjectLayer& layer;
  const SpecOptions& options;
  // Weight level: positions in [0, weights of the layer); see weight_at(). Neuron level: neurons. Ascending
  // and distinct. Empty for layer level.
  const std::vector<std::int64_t>& sites;
  Rng& rng;
};

struct OperatorInfo {
  static constexpr const char* kind = "mutation operator";
  // The first three change a trained network, the others what a network is trained from.
  enum class Level { weight, neuron, layer, data, structure, recipe };

  std::string name, title;  // "gf", "Gaussian fuzzing"
  std::string summary;      // one line
  std::string definition;   // what is changed, exactly
  std::string limits;       // what it cannot do or does not tell
  std::string paper;
  Level level = Level::weight;
  std::vector<SpecOption> options = {};
  // Layer level: how many different mutants one layer can give at most.
  std::int64_t variants = 1;
  // Why the operator cannot act on the layer; empty when it can. Throws Error{usage} for options out of
  // range.
  std::function<std::string(const SubjectLayer& layer, const SpecOptions& options)> refusal = {};
  // REQUIRES an empty refusal(). May find nothing to change at these sites.
  std::function<void(const MutationSite& target, Edit& edit)> apply = {};
  // In place of variants, refusal and apply from the level data on.
  ProgramFault program = {};

  bool of_source() const { return level >= Level::data; }
};

// The options every operator of the weight and neuron level has: ratio, count, and bias for weights, with
// their defaults.
std::vector<SpecOption> site_options(OperatorInfo::Level level, const std::string& ratio,
                                     const std::string& count);

// Weight `position` of a layer: of its weights one after another, then of its biases.
struct WeightPlace {
  const LayerWeights& weights;
  std::int64_t index;
};
WeightPlace weight_at(const SubjectLayer& layer, std::int64_t position);

// Calls change(weight) for each site of a weight-level operator and stores what it returns.
template <typename Function>
void change_weights(const MutationSite& target, Edit& edit, Function&& change) {
  for (const std::int64_t site : target.sites) {
    const auto [weights, index] = weight_at(target.layer, site);
    edit.set_weight(target.layer, weights, index, change(edit.weight(weights, index)));
  }
}

// The same for all weights of the layer, biases left out.
template <typename Function>
void change_all_weights(const MutationSite& target, Edit& edit, Function&& change) {
  for (const LayerWeights& weights : target.layer.weights) {
    for (std::int64_t i = 0; i < weights.count; ++i)
      edit.set_weight(target.layer, weights, i, change(edit.weight(weights, i)));
  }
}

// "input [6, 12, 12] and output [16, 8, 8] differ", for refusals.
std::string shapes_differ(const SubjectLayer& layer);

Catalogue<OperatorInfo>& operators();

struct MutationPreset : Preset {
  std::size_t per_operator = 50;
  bool whole_network = false;
  std::map<std::string, std::size_t> counts = {};  // in place of per_operator, by name
  std::vector<std::size_t> runs = {};              // of a study of repeated trainings
};
Catalogue<MutationPreset>& presets();

// An operator by name, or one of the caller's own that is in no catalogue.
using OperatorChoice = Choice<OperatorInfo>;
// The caller's own, or the catalogue's entry. Throws Error{usage} with the nearest name. The result lives as
// long as the choice.
const OperatorInfo& info_of(const OperatorChoice& choice);
// The options given, checked, with defaults for the others. Throws Error{usage}.
SpecOptions options_of(const OperatorChoice& choice);

struct Mutant {
  Spec op;            // "gf[sigma=0.5]"
  std::string layer;  // where its sites are; empty: sites drawn over the whole network
  std::uint64_t seed = 0;
  std::shared_ptr<const OperatorInfo> own = {};  // an operator that is in no catalogue, as it was drawn with

  OperatorChoice choice() const { return own ? OperatorChoice(op.text(), own) : OperatorChoice(op); }
  // "gf-conv2-17", letters, digits and - _ . only: fit for file names. Unique among the mutants of one draw.
  std::string id() const;
  // "gf[sigma=0.5]@conv2#17", or "gf#17" for the whole network: what parse_mutant() reads.
  std::string text() const;
  bool operator==(const Mutant&) const = default;
};

// Throws Error{usage} for text that names no mutant. Whether operator and layer exist is found out when it is
// applied.
Mutant parse_mutant(const std::string& text);

// A mutant's changes, or why there are none.
struct Outcome {
  std::unique_ptr<Edit> edit;  // null: not applicable; never empty()
  std::string reason;
};
// Draws the sites and writes the changes down, without building a graph. Where a draw changes nothing others
// are tried, a fixed number of times. The subject must outlive the result. Throws Error{usage} for operators,
// options and layers that do not exist.
Outcome plan_mutant(const Subject& subject, const Mutant& mutant, std::size_t most_kept = 1000);

// A mutated network with what was changed.
struct Mutation {
  Graph graph;  // ids and names of all nodes and values of the original stay valid
  std::int64_t sites =
      0;  // weights changed, or neurons at neuron level; 1 for a layer whose structure changes
  std::vector<Change> changes;    // the first 1,000
  std::int64_t change_count = 0;  // of all
  std::string summary;            // "Gaussian fuzzing: 24 weights of conv2"
};

// The original is untouched. Deterministic: randomness comes from streams named by seed, operator and layer.
// Throws Error{usage} when the operator does not apply, with the reason.
Mutation apply(const Subject& subject, const Mutant& mutant);

}  // namespace assay::mutation
