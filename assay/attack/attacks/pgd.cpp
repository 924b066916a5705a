// Projected gradient ascent from random points of the ball.

#include <ATen/ATen.h>

#include <cmath>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include "assay/attack/attacks/iterate.h"

namespace assay::attack {
namespace {

class Pgd final : public Attack {
 public:
  explicit Pgd(const SpecOptions& options)
      : ball_(options),
        step_(options.number("step", 0)),
        steps_(options.count("steps", 1)),
        starts_(options.count("starts", 1)) {}

  // Records that one start broke leave; the others begin again elsewhere in the ball.
  Tensor perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    Tensor result = problem.inputs.clone();
    Tensor open = at::arange(problem.size(), problem.labels.options());
    AttackProblem rest = problem;
    for (std::size_t start = 0; start < starts_ && rest.size() > 0; ++start) {
      const Tensor found = ascend(network, rest, random_point(rest, start), ball_, step_, steps_);
      result.index_copy_(0, open, found);
      if (start + 1 == starts_) break;
      const Tensor kept = positions(AttackedNetwork::won(rest, network.scores(rest, found)).logical_not());
      open = open.index_select(0, kept);
      rest = rest.at(kept);
    }
    return result;
  }

 private:
  // Uniform in the ball.
  Tensor random_point(const AttackProblem& problem, std::size_t start) const {
    Tensor change;
    if (ball_.norm == Norm::linf) {
      change = drawn(problem, start,
                     [&](Rng& rng) { return static_cast<float>(rng.uniform(-ball_.eps, ball_.eps)); });
    } else {
      const Tensor direction =
          drawn(problem, start, [](Rng& rng) { return static_cast<float>(rng.normal()); });
      const double elements = static_cast<double>(direction.numel() / direction.size(0));
      std::vector<float> radii;
      for (std::size_t row = 0; row < problem.keys.size(); ++row) {
        Rng rng = problem.rng(row, radius_stream + start);
        radii.push_back(static_cast<float>(ball_.eps * std::pow(rng.uniform(), 1 / elements)));
      }
      change =
          steepest(direction, Norm::l2) * per_record(at::tensor(radii).to(direction.device()), direction);
    }
    change.add_(problem.inputs);
    Region(ball_, problem.inputs).keep(change);
    return change;
  }

  static constexpr std::uint64_t radius_stream = std::uint64_t{1} << 32;

  Ball ball_;
  double step_;
  std::size_t steps_, starts_;
};

}  // namespace

AttackInfo pgd_attack() {
  return {
      .name = "pgd",
      .summary = "projected gradient descent: many small steps from random points of the ball",
      .definition =
          "From a point uniform in the ball, `steps` times as bim does. With several `starts`, a record that "
          "the network gets wrong is "
          "done and the others begin again.",
      .limits =
          "A lower bound of what an adversary can do; gradients that are masked make a network look robust.",
      .paper = "Madry et al., Towards Deep Learning Models Resistant to Adversarial Attacks, ICLR 2018",
      .options = {{"eps", "0.3", "radius of the ball, as a share of the valid range"},
                  {"step", "0.01", "length of a step"},
                  {"steps", "40", "number of steps"},
                  {"starts", "1", "random points to begin from"},
                  {"norm", "linf", "linf or l2"}},
      .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
        return std::make_unique<Pgd>(options);
      }};
}

}  // namespace assay::attack
