// The nearest decision boundary, taken to be straight, again and again.

#include <assay/array_math.h>

#include <algorithm>
#include <limits>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/norms.h"
#include "assay/attack/objective.h"
#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

class DeepFool final : public Attack {
 public:
  explicit DeepFool(const SpecOptions& options)
      : steps_(options.count("steps", 1)),
        overshoot_(options.number("overshoot", 0)),
        classes_(options.count("classes", 2)) {}

  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    Array result = problem.inputs.clone();
    Array rows = array::arange(problem.size(), problem.labels.dtype());
    Array point = problem.inputs, change = array::zeros_like(point);
    AttackProblem rest = problem;
    Array rivals = rivals_of(problem, classes_ - 1);
    for (std::size_t step = 0; step < steps_ && rest.size() > 0; ++step) {
      const Array move = to_nearest_boundary(network, rest, point, rivals);
      change = change + move;
      point = (rest.inputs + (1 + overshoot_) * change).clamp(0, 1);
      put(result, numbers(rows), point);
      const Array stuck = move.flatten(1).eq(0).all(1);
      for (const std::int64_t row : numbers(positions(stuck))) rest.end(row, "no gradient");
      const Array open =
          AttackedNetwork::won(rest, network.scores(rest, point)).logical_or(stuck).logical_not();
      if (open.all().item<bool>()) continue;
      const Array kept = positions(open);
      rest = rest.at(kept);
      for (Array* tensor : {&rows, &point, &change, &rivals}) *tensor = tensor->index_select(0, kept);
    }
    return result;
  }

 private:
  // The shortest way to a boundary of the linearised network, a little longer; zeros where no boundary has a
  // gradient.
  static Array to_nearest_boundary(const AttackedNetwork& network, const AttackProblem& problem,
                                   const Array& point, const Array& rivals) {
    std::vector<AttackedNetwork::Objective> objectives;
    for (std::int64_t r = 0; r < rivals.size(1); ++r)
      objectives.push_back(lead_of(rivals.select(1, r), problem.labels));
    const auto found = network.gradients(problem, point, objectives);
    const Array gaps = found.scores.gather(1, rivals) - found.scores.gather(1, problem.labels.unsqueeze(1));
    Array shortest = array::full({problem.size()}, std::numeric_limits<double>::infinity(), DType::float64);
    Array move = array::zeros_like(point);
    for (std::size_t r = 0; r < objectives.size(); ++r) {
      const Array gap = gaps.select(1, r).abs();
      const auto [direction, length] = unit_of(found.gradients[r], Norm::l2);
      const Array distance = gap / length;
      const Array nearer = length.gt(0).logical_and(distance.lt(shortest));
      shortest = array::where(nearer, distance, shortest);
      const Array way = (distance.clamp_max(farthest) + further).to(point.dtype());
      move = array::where(per_record(nearer, point), direction * per_record(way, point), move);
    }
    return move;
  }

  // Where the network is so sure that its boundary seems to lie anywhere beyond the valid range, the change
  // stays a number.
  static constexpr double further = 1e-4, farthest = 1e6;

  std::size_t steps_;
  double overshoot_;
  std::size_t classes_;
};

}  // namespace

AttackInfo deepfool_attack() {
  return {.name = "deepfool",
          .summary = "DeepFool: the nearest boundary of the linearised network, step by step",
          .definition =
              "For each of the `classes` - 1 classes k with the greatest clean scores other than the label y "
              "(or the target): w = gradient of Z_k - Z_y, "
              "distance |Z_k - Z_y| / |w|. The nearest moves the change r by (distance + 0.0001) w / |w|; x' "
              "= clip(x + (1 + overshoot) r, 0, 1). Again until the class changes, at most `steps` times.",
          .limits = "Distances are upper bounds of the smallest change in L2. Clipping can hold a search up.",
          .paper = "Moosavi-Dezfooli, Fawzi, Frossard, DeepFool, CVPR 2016",
          .options = {{"steps", "50", "most steps"},
                      {"overshoot", "0.02", "how far beyond the boundary"},
                      {"classes", "10", "classes looked at, the label included"}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<DeepFool>(options);
          }};
}

}  // namespace assay::attack
