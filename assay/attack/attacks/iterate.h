#pragma once

// What BIM, PGD and MI-FGSM share: steps of the steepest ascent that stay in a ball around the record and in
// range.

#include <string>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/spec.h>
#include "assay/attack/norms.h"

namespace assay::attack {

struct Ball {
  // Reads eps and norm; throws Error{usage} when the norm is not linf or l2.
  explicit Ball(const SpecOptions& options);
  double eps;
  Norm norm;
  // The point moved into the ball around `centre`, then into [0, 1].
  Tensor keep(const Tensor& point, const Tensor& centre) const;
};

// `steps` times: a step of length `step` along the steepest direction of the loss, clipped, then kept in the
// ball.
Tensor ascend(const AttackedNetwork& network, const AttackProblem& problem, Tensor point, const Ball& ball,
              double step, std::size_t steps);

}  // namespace assay::attack
