// Projected gradient ascent from random points of the ball.

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
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

  // Records that one start broke leave; the others start again at another point of the ball.
  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    return in_runs(network, problem, starts_, [&](const AttackProblem& records, std::size_t start) {
      return ascend(network, records, random_point(records, ball_, start), ball_, step_, steps_);
    });
  }

 private:
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
          "the network gets wrong is done and the others begin again.",
      .limits =
          "A lower bound of what an adversary can do; gradients that are masked make a network look robust.",
      .paper = "Madry et al., Towards Deep Learning Models Resistant to Adversarial Attacks, ICLR 2018",
      .options = {{"eps", "0.3", "radius of the ball, as a share of the valid range"},
                  {"step", "0.01", "length of a step"},
                  {"steps", "40", "number of steps"},
                  {"starts", "1", "random points to begin from"},
                  {"norm", "linf", "linf or l2"}},
      .severities = {{"eps", 0, true}},
      .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
        return std::make_unique<Pgd>(options);
      }};
}

}  // namespace assay::attack
