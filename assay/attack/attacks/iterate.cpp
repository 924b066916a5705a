#include "assay/attack/attacks/iterate.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
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

Tensor random_point(const AttackProblem& problem, const Ball& ball, std::size_t draw) {
  constexpr std::uint64_t radius_stream = std::uint64_t{1} << 32;
  Tensor point;
  if (ball.norm == Norm::linf) {
    const Tensor change =
        drawn(problem, draw, [&](Rng& rng) { return static_cast<float>(rng.uniform(-ball.eps, ball.eps)); });
    point = stepped(problem.inputs, change, 1);
  } else {
    const Tensor direction = drawn(problem, draw, [](Rng& rng) { return static_cast<float>(rng.normal()); });
    const double elements = static_cast<double>(direction.numel() / direction.size(0));
    std::vector<float> radii;
    for (std::size_t row = 0; row < problem.keys.size(); ++row) {
      Rng rng = problem.rng(row, radius_stream + draw);
      radii.push_back(static_cast<float>(ball.eps * std::pow(rng.uniform(), 1 / elements)));
    }
    point = problem.inputs +
            steepest(direction, Norm::l2) * per_record(at::tensor(radii).to(direction.device()), direction);
  }
  Region(ball, problem.inputs).keep(point);
  return point;
}

Tensor in_runs(const AttackedNetwork& network, const AttackProblem& problem, std::size_t runs,
               const std::function<Tensor(const AttackProblem& records, std::size_t run)>& search) {
  const Tensor result = copied(problem.inputs);
  std::vector<std::int64_t> open(problem.keys.size());
  std::iota(open.begin(), open.end(), 0);
  AttackProblem rest = problem;
  for (std::size_t run = 0; run < runs && rest.size() > 0; ++run) {
    const Tensor found = search(rest, run);
    put(result, open, found);
    if (run + 1 == runs) break;
    const std::vector<bool> won = truths_of(AttackedNetwork::won(rest, network.scores(rest, found)));
    std::vector<std::int64_t> kept, still_open;
    for (std::size_t i = 0; i < won.size(); ++i) {
      if (won[i]) continue;
      kept.push_back(static_cast<std::int64_t>(i));
      still_open.push_back(open[i]);
    }
    open = std::move(still_open);
    rest = rest.at(tensor_of(kept));
  }
  return result;
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
