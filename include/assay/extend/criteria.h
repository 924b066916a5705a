#pragma once

// The catalogue of coverage criteria: what each counts, from which options, made from what has been learned
// (docs/algorithms/criteria.md).

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <assay/extend/catalogue.h>
#include <assay/extend/criterion.h>
#include <assay/profile.h>

namespace assay::coverage {

// The setup of a criterion.
struct CriterionSetup {
  const Profile& profile;
  const Spec& spec;
  const SpecOptions& options;
  std::vector<std::size_t> layers;  // positions in profile.statistics that count
};

struct CriterionInfo {
  static constexpr const char* kind = "criterion";
  std::string name, summary;  // "kmnc", one line
  std::string definition;     // what is counted, exactly
  std::string limits;         // what it does not tell
  std::string paper;
  std::vector<SpecOption> options;
  // What has to be learned from the training set beyond the statistics of neurons.
  // `combinations`: clusters, and those combinations of them that training records reach. `quantiles`: of
  // every neuron at the value of the option of that name.
  enum class Needs { statistics, quantiles, clusters, combinations, traces } needs = Needs::statistics;
  // Whether it looks at all layers by default, or at the layer before the last with weights.
  bool all_layers = true;
  // Whether it counts neurons one by one, so that only chosen ones can count (LayerStatistics::chosen).
  bool of_neurons = false;
  // Whether its items are combinations of clusters that tables name one by one.
  bool names_combinations = false;
  // Whether it keeps the activations of all records, so that memory grows with them.
  bool keeps_activations = false;
  std::function<std::unique_ptr<Criterion>(const CriterionSetup& setup)> make;
};

Catalogue<CriterionInfo>& criteria();
// Criteria with the options that a paper or its released code uses, or all entries of the catalogue that are
// of a kind, those that were added to it included.
struct CriteriaPreset : Preset {
  std::function<bool(const CriterionInfo& info)> takes = {};  // computed: which entries, with their defaults
  // Its criteria as texts.
  std::vector<std::string> criteria() const;
};
Catalogue<CriteriaPreset>& presets();

// A criterion by name, or one of the caller's own that is in no catalogue.
using CriterionChoice = Choice<CriterionInfo>;
// The caller's own, or the catalogue's entry. Throws Error{usage} with the nearest name. The result lives as
// long as the choice.
const CriterionInfo& info_of(const CriterionChoice& choice);

// A fresh criterion for a profile. Throws Error{usage} for options and layers that do not exist,
// Error{mismatch} when the profile has not learned what the criterion needs.
std::unique_ptr<Criterion> make_criterion(const Profile& profile, const CriterionChoice& choice);

// Every criterion has this option in addition to its own: layers by name, joined by +.
SpecOption layer_option();

}  // namespace assay::coverage
