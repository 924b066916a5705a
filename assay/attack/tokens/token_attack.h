#pragma once

// Attacks on texts as numbers of tokens: what they share.

#include <assay/attack.h>
#include "assay/attack/tokens/token_space.h"

namespace assay::attack {

// A record while it is searched.
struct TokenSearch {
  std::size_t row = 0;  // in the problem
  TokenRow tokens;
  std::vector<std::size_t> positions;  // that may change
  std::size_t budget = 0;              // of them, at most
  std::set<std::size_t> changed = {};

  // Whether the position may (still) get another token.
  bool may_change(std::size_t position) const {
    return changed.size() < budget || changed.contains(position);
  }
  void put(std::size_t position, std::int64_t token, std::int64_t original);
};

class TokenAttack : public Attack {
 public:
  explicit TokenAttack(TokenLimits limits) : limits_(std::move(limits)) {}
  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const final;

 protected:
  // Changes the tokens of records until they reach the goal or can go no further. Searches without positions
  // are not among them.
  virtual void search(const TokenSpace& space, const AttackProblem& problem,
                      std::vector<TokenSearch>& records) const = 0;

 private:
  TokenLimits limits_;
};

// Of records still searched: their part of the problem, their tokens.
AttackProblem problem_of_searches(const AttackProblem& problem, std::span<const TokenSearch* const> records);
std::vector<TokenRow> tokens_of_searches(std::span<const TokenSearch* const> records);

// A change of one token with what it promises.
struct Flip {
  std::size_t position = 0;
  std::int64_t token = 0;
  float gain = 0;  // to first order
};

// The best flips of a record by its gradient [length, width] with respect to rows: (row of token - row of
// what is there) * gradient, the `most` greatest above 0 in falling order; `each`: so many of every position.
std::vector<Flip> best_flips(const TokenSpace& space, const TokenSearch& record,
                             std::span<const float> gradient, std::span<const float> row_now,
                             std::size_t most, std::size_t each);

}  // namespace assay::attack
