#include "assay/attack/attacks/iterate.h"

#include <ATen/ATen.h>

#include <assay/extend/attack_problem.h>
#include "assay/attack/objective.h"

namespace assay::attack {
namespace {

const std::vector<std::string> ball_norms{"linf", "l2"};

}  // namespace

Ball::Ball(const SpecOptions& options)
    : eps(options.number("eps", 0)), norm(norm_named(options.word("norm", ball_norms))) {}

Tensor Ball::keep(const Tensor& point, const Tensor& centre) const {
  return (centre + project(point - centre, norm, eps)).clamp(0, 1);
}

Tensor ascend(const AttackedNetwork& network, const AttackProblem& problem, Tensor point, const Ball& ball,
              double step, std::size_t steps) {
  const auto objective = loss_for(ball.norm, problem);
  for (std::size_t i = 0; i < steps; ++i) {
    const Tensor gradient = network.slope(problem, point, objective);
    point = ball.keep((point + step * steepest(gradient, ball.norm)).clamp(0, 1), problem.inputs);
  }
  return point;
}

}  // namespace assay::attack
