#pragma once

// DeepXplore's joint objective of one network: to decide otherwise than the others, and to activate what
// nothing covers yet (Pei et al., SOSP 2017, equations 2 and 3; docs/algorithms/exploration.md).

#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <assay/explore.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/judgement.h>
#include <assay/extend/random.h>
#include "assay/attack/outputs_of_rows.h"
#include "assay/explore/choice.h"
#include "assay/explore/guide.h"
#include "assay/explore/neurons.h"

namespace assay::explore {

// State of one search.
struct SearchRow {
  std::size_t seed = 0, target = 0, still = 0, idle = 0;
  float nearest = std::numeric_limits<float>::infinity();  // how near to a disagreement the search has come
  std::int64_t label = 0;
  task::Items items;    // of the seed, those that all networks decide alike
  float direction = 1;  // regression: whether the target is pushed up (-1) or down (1)
  std::vector<std::optional<std::vector<coverage::Aim>>> aims;  // per network, once chosen
  std::vector<ByNeuron<float>> relevance;                       // per network, where the choice asks for it
};
class JointObjective {
 public:
  // `network`: the position of this one among all. All must outlive the objective.
  JointObjective(std::size_t network, const attack::AttackedNetwork& attacked, const Guide& guide,
                 const SearchOptions& options);

  // What it reads of a record: the decision, then values of layers.
  const std::vector<ValueId>& values() const { return values_; }
  // Adds how the objective of a search changes with the elements of these values. `rng`: for the choice of
  // neurons.
  void climb(SearchRow& row, std::span<const float> elements, std::span<float> gradients, Rng rng) const;

 private:
  void climb_items(const SearchRow& row, std::span<const float> outputs, std::span<float> gradients) const;
  void disagree(const SearchRow& row, std::span<const float> scores, std::span<float> gradients) const;
  float weight(const SearchRow& row) const;
  std::vector<coverage::Aim> choose(const SearchRow& row, std::span<const float> elements, Rng rng) const;
  void lift(const coverage::Aim& aim, float share, std::span<const float> elements,
            std::span<float> gradients) const;

  std::size_t k_;
  const attack::AttackedNetwork& network_;
  const Guide& guide_;
  const SearchOptions& options_;
  std::vector<ValueId> values_;
  std::vector<std::size_t> begins_;                            // where each begins among a record's elements
  std::vector<std::pair<std::size_t, RecordNeurons>> layers_;  // of the profile: which value, and its neurons
  attack::OutputsOfRows outputs_;
};

}  // namespace assay::explore
