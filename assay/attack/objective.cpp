#include "assay/attack/objective.h"

#include <assay/attack_problem.h>

#include <ATen/ATen.h>

#include <limits>

namespace assay::attack {

AttackedNetwork::Objective loss(const AttackProblem& problem) {
  const bool targeted = problem.targeted();
  const Tensor classes = (targeted ? problem.targets : problem.labels).unsqueeze(1);
  // log(1 + exp(b - a)), where a is the class's own score and b that of all others together (log-sum-exp). A
  // softmax would lose the leading part of the gradient where the network is sure: 1 - p is 0 in float32 once
  // the others have less than 6e-8.
  return [=](const Tensor& scores) {
    const Tensor own = scores.gather(1, classes).squeeze(1);
    const Tensor others = scores.scatter(1, classes, -std::numeric_limits<float>::infinity()).logsumexp(1);
    const Tensor cross_entropy = at::softplus(others - own);
    return targeted ? cross_entropy.neg() : cross_entropy;
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
