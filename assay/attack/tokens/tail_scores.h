#pragma once

// Scores of texts that begin alike, and their gradients: what a causal network computes of the positions
// before the first that may change is computed once for all.

#include <memory>

#include <assay/extend/attack_problem.h>
#include "assay/attack/tokens/token_space.h"
#include "assay/engine/preparation/token_tail.h"

namespace assay::attack {

class TailScores {
 public:
  // Tokens before `first` stay. nullptr where little would be saved, and where the structure of the network
  // does not show how to compute the rest alone.
  static std::unique_ptr<TailScores> of(const TokenSpace& whole, std::int64_t first);

  // Takes what the network computes of the first tokens of a record [1, length], whose problem `alone` is.
  // False where texts that begin like it do not get the scores that the whole network gives them, as in
  // networks that look ahead: tried with `other`, a text with other tokens from the first on. Counts two or
  // three forward passes.
  bool take(const AttackProblem& alone, const Array& point, const Array& other);
  // As AttackedNetwork::scores(), of texts that begin like the record taken.
  Array scores(const AttackProblem& problem, const Array& points) const;
  // As TokenSpace::gradients(), 0 before the first token that may change.
  Array gradients(const AttackProblem& problem, const Array& points,
                  const AttackedNetwork::Objective& objective) const;

 private:
  TailScores(const TokenSpace& whole, TokenTail tail, std::int64_t first);
  AttackProblem of_rest(const AttackProblem& problem) const;
  Array part_of(const Tensors& values, const TokenTail::Given& given) const;

  const AttackedNetwork& whole_;
  std::int64_t first_;
  TokenTail tail_;
  Session session_;
  AttackedNetwork network_;
  TokenSpace space_;
  HeldInputs held_;  // of the record taken
};

}  // namespace assay::attack
