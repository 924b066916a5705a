#include "assay/attack/objective.h"

#include <assay/attack_problem.h>

#include <ATen/ATen.h>

#include <limits>

namespace assay::attack {

AttackedNetwork::Objective loss(const AttackProblem& problem) {
  const bool targeted = problem.targeted();
  const Tensor classes = (targeted ? problem.targets : problem.labels).unsqueeze(1);
  return [=](const Tensor& scores) {
    const Tensor log_likelihood = at::log_softmax(scores, 1).gather(1, classes).squeeze(1);
    return targeted ? log_likelihood : log_likelihood.neg();
  };
}

AttackedNetwork::Objective score_of(const Tensor& classes) {
  const Tensor index = classes.unsqueeze(1);
  return [=](const Tensor& scores) { return scores.gather(1, index).squeeze(1); };
}

Tensor margin(const AttackProblem& problem, const Tensor& scores) {
  const Tensor index = (problem.targeted() ? problem.targets : problem.labels).unsqueeze(1);
  const Tensor own = scores.gather(1, index).squeeze(1);
  const Tensor best = scores.scatter(1, index, -std::numeric_limits<float>::infinity()).amax(1);
  return problem.targeted() ? best - own : own - best;
}

}  // namespace assay::attack
