// Mutants as they are drawn, on their way to be run.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <assay/mutation.h>
#include "assay/mutation/outcome.h"

namespace assay::mutation {
namespace {

// "neuron 3: weight 17 0.12 -> -0.5; ..."
std::string first_changes(const Mutation& made) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (const Change& change : std::span(made.changes).first(std::min(shown, made.changes.size()))) {
    if (!text.empty()) text += "; ";
    if (change.neuron >= 0) text += fmt::format("neuron {}: ", change.neuron);
    text += change.constant.empty() ? change.what
                                    : fmt::format("{}[{}] {:.4g} -> {:.4g}", change.constant, change.index,
                                                  change.before, change.after);
  }
  const std::size_t all = made.change_count;
  return all > shown ? fmt::format("{}; {} in all", text, all) : text;
}

MutantOutcome described(const Mutant& mutant, const Mutation& made) {
  MutantOutcome outcome = outcome_of(mutant, made.sites, made.summary);
  outcome.changes = first_changes(made);
  return outcome;
}

}  // namespace

MutantOutcome outcome_of(const Mutant& mutant, std::int64_t sites, std::string summary) {
  MutantOutcome outcome;
  outcome.id = mutant.id();
  outcome.op = mutant.op.text();
  outcome.operator_name = mutant.op.name;
  outcome.layer = mutant.layer;
  outcome.seed = mutant.seed;
  outcome.sites = sites;
  outcome.summary = std::move(summary);
  return outcome;
}

PlannedMutant planned(const Subject& subject, const Mutant& mutant) {
  return {described(mutant, apply(subject, mutant)),
          [&subject, mutant] { return apply(subject, mutant).graph; }};
}

}  // namespace assay::mutation
