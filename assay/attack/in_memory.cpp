// Problems made of records in memory.

#include <assay/array_math.h>

#include <numeric>

#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/outputs_of_rows.h"
#include "assay/engine/elements.h"

namespace assay::attack {

AttackProblem problem_of(const AttackedNetwork& network, const Array& inputs, std::uint64_t seed) {
  if (network.regression())
    fail(Fault::usage, "a regression network gives records no class; attack it with a data set");
  const array::Recording unrecorded(false);
  const std::size_t records = inputs.size(0);
  AttackProblem problem;
  problem.inputs = inputs;
  problem.seed = seed;
  problem.places.resize(records);
  std::iota(problem.places.begin(), problem.places.end(), std::size_t{0});
  problem.keys.assign(problem.places.begin(), problem.places.end());
  problem.log = std::make_shared<AttackLog>(records);
  problem.scores = network.scores_of(problem, network.outputs(network.bind(inputs)));
  problem.labels = array::tensor(decisions(problem.scores));
  return problem;
}

}  // namespace assay::attack
