#pragma once

// What a test set is worth against mutants (Ma et al., DeepMutation, ISSRE 2018).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/mutation/state.h"
#include "assay/selection/cover.h"

namespace assay {

struct ScoreOptions {
  double quality = 0.2;        // mutants that get a greater share of T' wrong are left out, and listed; above 1: none
  double trivial = 0.9;        // killed by at least this share of T'
  double unchanged = 1e-6;     // a survivor whose decision values never changed by more than this looks equivalent
  double indecisive = 1e-4;    // a mutant whose surest kill is nearer to a tie than this, relative to the values, is unstable
  std::uint64_t seed = 1;      // of the bootstrap
  std::size_t resamples = 1000;
};

enum class MutantStatus { killed, survived, excluded, incomplete };
std::string to_string(MutantStatus status);

struct MutantScore {
  MutantStatus status = MutantStatus::incomplete;
  std::size_t ran = 0, killers = 0;        // records of T' that ran, and that killed
  std::vector<std::size_t> by_class;       // killing records per class
  std::size_t killed_classes = 0;
  double error_rate = 0;                   // killers / ran
  bool looks_equivalent = false, trivial = false, unstable = false;
};

// Over a group of mutants: those of an operator, a layer, all.
struct GroupScore {
  std::string name;
  std::size_t mutants = 0, killed = 0, survived = 0, excluded = 0, incomplete = 0;
  std::uint64_t killed_classes = 0, coverable = 0;  // sum over mutants; mutants x classes
  std::optional<double> score;             // killed_classes / coverable; nothing without mutants
  std::optional<double> error_rate;        // mean over mutants
  std::optional<double> low, high;         // 95 % interval of the score: bootstrap over mutants; nothing with fewer than two
};

// For the test inputs of one class.
struct ClassScore {
  std::int64_t number = 0;
  std::size_t records = 0;                 // of T'
  std::uint64_t killed = 0, coverable = 0; // mutants killed by this class; mutants x classes, so that the parts add up
  std::optional<double> score, error_rate;
};

struct MutationScore {
  std::vector<MutantScore> mutants;        // as in the state
  GroupScore all;
  std::vector<GroupScore> by_operator, by_layer;
  std::vector<ClassScore> by_class;
  std::size_t records = 0, judged = 0;     // walked, and in T'
  std::vector<std::size_t> idle;           // records of T' that kill no mutant that counts
};

MutationScore score(const MutationState& state, const ScoreOptions& options);

// The smallest set of records found that kills the same classes of the same mutants (positions in state.records()).
Cover killing_subset(const MutationState& state, const MutationScore& score);

}  // namespace assay
