#pragma once

// Searches of records whose beginning stays: what a causal network computes of it is computed once a record.

#include <functional>
#include <vector>

#include "assay/attack/tokens/tail_scores.h"
#include "assay/attack/tokens/token_attack.h"

namespace assay::attack {

// Searches a record, the only one of `alone`, by the scores of its tail. Gives the margin of what it leaves
// in the record; infinity where nothing was judged.
using OneSearch =
    std::function<float(const AttackProblem& alone, TokenSearch& record, const TailScores* tail)>;

// Searches the records that have a tail which is worth its trial, where a search takes at most so many
// passes. The whole network judges what is found. Gives the records that are still to be searched by whole
// texts, in their order.
std::vector<TokenSearch*> search_tails(const TokenSpace& space, const AttackProblem& problem,
                                       std::vector<TokenSearch>& records,
                                       const std::function<std::size_t(const TokenSearch&)>& passes,
                                       const OneSearch& search);

// By the tail, or by the whole network: the gradients of a loss (TokenSpace::gradients()), and how far texts
// are from their goals (TokenSpace::margins()).
Array gradients_of(const TokenSpace& space, const AttackProblem& problem, std::span<const TokenRow> tokens,
                   const TailScores* tail);
std::vector<float> margins_of(const TokenSpace& space, const AttackProblem& problem,
                              std::span<const TokenRow> tokens, const TailScores* tail);

}  // namespace assay::attack
