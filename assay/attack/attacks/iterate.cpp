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

Region::Region(const Ball& ball, const Tensor& centre) : ball_(ball), centre_(centre) {
  if (ball.norm != Norm::linf) return;
  low_ = (centre - ball.eps).clamp_(0, 1);
  high_ = (centre + ball.eps).clamp_(0, 1);
}

void Region::keep(Tensor& point) const {
  if (low_.defined()) {
    point.clamp_(low_, high_);
  } else {
    point = (centre_ + project(point - centre_, ball_.norm, ball_.eps)).clamp_(0, 1);
  }
}

Tensor ascend(const AttackedNetwork& network, const AttackProblem& problem, Tensor point, const Ball& ball,
              double step, std::size_t steps) {
  const auto objective = loss_for(ball.norm, problem);
  const Region region(ball, problem.inputs);
  point = point.clone();
  for (std::size_t i = 0; i < steps; ++i) {
    point.add_(steepest(network.slope(problem, point, objective), ball.norm), step);
    if (ball.norm != Norm::linf) point.clamp_(0, 1);  // a box is in range
    region.keep(point);
  }
  return point;
}

}  // namespace assay::attack
