#pragma once

// The choice of mutants: operators of a preset and others, and a part of the drawn mutants.

#include <optional>
#include <string>
#include <vector>

#include <assay/mutation_draw.h>

namespace assay::mutation {

// Takes the operators of the preset (empty: DeepMutation's, where there are no others) and then `operators`.
// With a preset that is named, its numbers and its choice of sites as well; `count` comes before its numbers.
void choose_operators(DrawOptions& draw, const std::string& preset, const std::vector<std::string>& operators,
                      std::optional<std::size_t> count);

// Whether the operators change what a network is trained from, rather than a trained network. Throws
// Error{usage} for operators of both kinds.
bool need_training(const std::vector<OperatorChoice>& operators);

// Every shards-th of the mutants, from the shard-th on.
std::vector<Mutant> part_of(const std::vector<Mutant>& mutants, std::size_t shard, std::size_t shards);

}  // namespace assay::mutation
