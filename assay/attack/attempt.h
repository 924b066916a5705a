#pragma once

// One attack on records of a batch, whatever becomes of its result.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>

namespace assay::attack {

struct Attempt {
  AttackProblem problem;  // of the chosen records
  Array points;           // what became of them, float32 in range
};

// `rows`: of the problem `all`. A record for which the attack gives a NaN stays as it is. `name`: for
// messages. Throws Error{usage} where perturb() gives another tensor than it is to give.
Attempt attempt(const Attack& attack, const std::string& name, const AttackedNetwork& network,
                const AttackProblem& all, const std::vector<std::int64_t>& rows);

// Why a search ended without success, where that is known, or nothing.
std::string_view ending_of(const AttackLog& log, std::size_t place);

// Records attacked at a time where the caller has no number of them.
std::size_t attack_batch(const Session& session);

}  // namespace assay::attack
