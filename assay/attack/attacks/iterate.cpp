#include "assay/attack/attacks/iterate.h"

#include <ATen/ATen.h>

#include <algorithm>

#include <assay/extend/attack_problem.h>
#include "assay/attack/objective.h"
#include "assay/engine/plain_tensor.h"

namespace assay::attack {
namespace {

const std::vector<std::string> ball_norms{"linf", "l2"};

}  // namespace

Ball::Ball(const SpecOptions& options)
    : eps(options.number("eps", 0)), norm(norm_named(options.word("norm", ball_norms))) {}

Region::Region(const Ball& ball, const Tensor& centre) : ball_(ball), centre_(centre) {}

template <typename Body>
bool Region::in_box(const Tensor& point, const Body& body) const {
  if (ball_.norm != Norm::linf || !floats_in_reach(point) || !floats_in_reach(centre_)) return false;
  const auto eps = static_cast<float>(ball_.eps);
  const float* const centre = elements_of<float>(centre_);
  for (std::int64_t i = 0, count = point.numel(); i < count; ++i)
    body(i, std::max(centre[i] - eps, 0.0F), std::min(centre[i] + eps, 1.0F));
  return true;
}

void Region::keep(Tensor& point) const {
  float* const at = elements_of<float>(point);
  if (in_box(point,
             [&](std::int64_t i, float low, float high) { at[i] = std::min(std::max(at[i], low), high); }))
    return;
  point = (centre_ + project(point - centre_, ball_.norm, ball_.eps)).clamp_(0, 1);
}

void Region::climb(Tensor& point, const Tensor& gradient, double step) const {
  float* const at = elements_of<float>(point);
  const float *const slope = elements_of<float>(gradient), length = static_cast<float>(step);
  const auto climb_element = [&](std::int64_t i, float low, float high) {
    const float sign = (slope[i] > 0 ? 1.0F : 0.0F) - (slope[i] < 0 ? 1.0F : 0.0F);
    at[i] = std::min(std::max(at[i] + length * sign, low), high);
  };
  if (floats_in_reach(gradient) && in_box(point, climb_element)) return;
  point.add_(steepest(gradient, ball_.norm), step).clamp_(0, 1);
  keep(point);
}

Tensor ascend(const AttackedNetwork& network, const AttackProblem& problem, Tensor point, const Ball& ball,
              double step, std::size_t steps) {
  const auto objective = loss(problem);
  const Region region(ball, problem.inputs);
  point = copied(point);
  for (std::size_t i = 0; i < steps; ++i) region.climb(point, network.slope(problem, point, objective), step);
  return point;
}

}  // namespace assay::attack
