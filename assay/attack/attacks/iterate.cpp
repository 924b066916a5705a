#include "assay/attack/attacks/iterate.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include "assay/attack/objective.h"
#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

const std::vector<std::string> ball_norms{"linf", "l2"};

}  // namespace

Ball::Ball(const SpecOptions& options)
    : eps(options.number("eps", 0)), norm(norm_named(options.word("norm", ball_norms))) {}

Region::Region(const Ball& ball, const Array& centre) : ball_(ball), centre_(centre) {}

template <typename Body>
bool Region::in_box(Array& point, const Body& body) const {
  if (ball_.norm != Norm::linf || !floats_in_order(point) || !floats_in_order(centre_)) return false;
  const auto eps = static_cast<float>(ball_.eps);
  const float* const centre = centre_.elements<float>();
  float* const at = point.elements<float>();
  for (std::int64_t i = 0, count = point.count(); i < count; ++i)
    body(i, at[i], std::max(centre[i] - eps, 0.0F), std::min(centre[i] + eps, 1.0F));
  return true;
}

void Region::keep(Array& point) const {
  const auto keep_element = [](std::int64_t, float& at, float low, float high) {
    at = std::min(std::max(at, low), high);
  };
  if (in_box(point, keep_element)) return;
  point = (centre_ + project(point - centre_, ball_.norm, ball_.eps)).clamp_(0, 1);
}

void Region::climb(Array& point, const Array& gradient, double step) const {
  if (floats_in_order(gradient)) {
    const float *const element = gradient.elements<float>(), length = static_cast<float>(step);
    const auto climb_element = [&](std::int64_t i, float& at, float low, float high) {
      const float sign = (element[i] > 0 ? 1.0F : 0.0F) - (element[i] < 0 ? 1.0F : 0.0F);
      at = std::min(std::max(at + length * sign, low), high);
    };
    if (in_box(point, climb_element)) return;
  }
  point.add_(steepest(gradient, ball_.norm), step).clamp_(0, 1);
  keep(point);
}

Array Region::advanced(const Array& point, const Array& gradient, const std::vector<float>& lengths,
                       const Array* before) const {
  if (ball_.norm == Norm::linf && floats_in_order(point) && floats_in_order(gradient) &&
      floats_in_order(centre_) && (before == nullptr || floats_in_order(*before)))
    return advanced_in_box(point, gradient, lengths, before);
  Array next = point + per_record(array::tensor(lengths), point) * steepest(gradient, ball_.norm);
  keep(next);
  if (before == nullptr) return next;
  next = point + 0.75 * (next - point) + 0.25 * (point - *before);
  keep(next);
  return next;
}

// The same in one loop.
Array Region::advanced_in_box(const Array& point, const Array& gradient, const std::vector<float>& lengths,
                              const Array* before) const {
  const Array next = array::empty(point.shape());
  const auto eps = static_cast<float>(ball_.eps);
  const std::size_t size = static_cast<std::size_t>(point.count()) / std::max<std::size_t>(1, lengths.size());
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const std::size_t begin = row * size;
    const float *const from = point.elements<float>() + begin,
                       *const way = gradient.elements<float>() + begin,
                       *const centre = centre_.elements<float>() + begin,
                       *const last = (before ? *before : point).elements<float>() + begin;
    const float length = lengths[row], share = before ? 0.75F : 1, rest = before ? 0.25F : 0;
    float* const to = next.elements<float>() + begin;
    for (std::size_t i = 0; i < size; ++i) {
      const float low = std::max(centre[i] - eps, 0.0F), high = std::min(centre[i] + eps, 1.0F),
                  sign = (way[i] > 0 ? 1.0F : 0.0F) - (way[i] < 0 ? 1.0F : 0.0F);
      const float there = std::min(std::max(from[i] + length * sign, low), high);
      const float mixed = from[i] + share * (there - from[i]) + rest * (from[i] - last[i]);
      to[i] = before ? std::min(std::max(mixed, low), high) : there;
    }
  }
  return next;
}

Array random_point(const AttackProblem& problem, const Ball& ball, std::size_t draw) {
  constexpr std::uint64_t radius_stream = std::uint64_t{1} << 32;
  Array point;
  if (ball.norm == Norm::linf) {
    const Array change =
        drawn(problem, draw, [&](Rng& rng) { return static_cast<float>(rng.uniform(-ball.eps, ball.eps)); });
    point = stepped(problem.inputs, change, 1);
  } else {
    const Array direction = drawn(problem, draw, [](Rng& rng) { return static_cast<float>(rng.normal()); });
    const double elements = direction.count() / direction.size(0);
    std::vector<float> radii;
    for (std::size_t row = 0; row < problem.keys.size(); ++row) {
      Rng rng = problem.rng(row, radius_stream + draw);
      radii.push_back(static_cast<float>(ball.eps * std::pow(rng.uniform(), 1 / elements)));
    }
    point = problem.inputs + steepest(direction, Norm::l2) * per_record(array::tensor(radii), direction);
  }
  Region(ball, problem.inputs).keep(point);
  return point;
}

Array in_runs(const AttackedNetwork& network, const AttackProblem& problem, std::size_t runs,
              const std::function<Array(const AttackProblem& records, std::size_t run)>& search) {
  const Array result = problem.inputs.clone();
  std::vector<std::int64_t> open(problem.keys.size());
  std::iota(open.begin(), open.end(), 0);
  AttackProblem rest = problem;
  for (std::size_t run = 0; run < runs && rest.size() > 0; ++run) {
    const Array found = search(rest, run);
    put(result, open, found);
    if (run + 1 == runs) break;
    const std::vector<bool> won = truths_of(AttackedNetwork::won(rest, network.scores(rest, found)));
    std::vector<std::int64_t> kept, still_open;
    for (std::size_t i = 0; i < won.size(); ++i) {
      if (won[i]) continue;
      kept.push_back(i);
      still_open.push_back(open[i]);
    }
    open = std::move(still_open);
    rest = rest.at(array::tensor(kept));
  }
  return result;
}

Array ascend(const AttackedNetwork& network, const AttackProblem& problem, Array point, const Ball& ball,
             double step, std::size_t steps) {
  const auto objective = loss(problem);
  const Region region(ball, problem.inputs);
  point = point.clone();
  for (std::size_t i = 0; i < steps; ++i)
    region.climb(point, network.gradient(problem, point, objective), step);
  return point;
}

}  // namespace assay::attack
