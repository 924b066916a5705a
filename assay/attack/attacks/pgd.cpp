// Projected gradient ascent from random points of the ball.

#include <ATen/ATen.h>

#include <cmath>
#include <numeric>
#include <vector>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include "assay/attack/attacks/iterate.h"
#include "assay/engine/plain_tensor.h"

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
    const Tensor result = copied(problem.inputs);
    std::vector<std::int64_t> open(problem.keys.size());
    std::iota(open.begin(), open.end(), 0);
    AttackProblem rest = problem;
    for (std::size_t start = 0; start < starts_ && rest.size() > 0; ++start) {
      const Tensor found = ascend(network, rest, random_point(rest, start), ball_, step_, steps_);
      put(result, open, found);
      if (start + 1 == starts_) break;
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

 private:
  // Uniform in the ball.
  Tensor random_point(const AttackProblem& problem, std::size_t start) const {
    Tensor point;
    if (ball_.norm == Norm::linf) {
      const Tensor change = drawn(
          problem, start, [&](Rng& rng) { return static_cast<float>(rng.uniform(-ball_.eps, ball_.eps)); });
      point = stepped(problem.inputs, change, 1);
    } else {
      const Tensor direction =
          drawn(problem, start, [](Rng& rng) { return static_cast<float>(rng.normal()); });
      const double elements = static_cast<double>(direction.numel() / direction.size(0));
      std::vector<float> radii;
      for (std::size_t row = 0; row < problem.keys.size(); ++row) {
        Rng rng = problem.rng(row, radius_stream + start);
        radii.push_back(static_cast<float>(ball_.eps * std::pow(rng.uniform(), 1 / elements)));
      }
      point = problem.inputs +
              steepest(direction, Norm::l2) * per_record(at::tensor(radii).to(direction.device()), direction);
    }
    Region(ball_, problem.inputs).keep(point);
    return point;
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
