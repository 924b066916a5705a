// Iterated FGSM whose direction remembers earlier gradients.

#include <assay/array_math.h>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/iterate.h"
#include "assay/attack/objective.h"

namespace assay::attack {
namespace {

class MiFgsm final : public Attack {
 public:
  explicit MiFgsm(const SpecOptions& options)
      : ball_(options),
        steps_(options.count("steps", 1)),
        decay_(options.number("decay", 0)),
        step_(options.text("step").empty() ? ball_.eps / static_cast<double>(steps_)
                                           : options.number("step", 0)) {}

  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    const auto objective = loss(problem);
    const Region region(ball_, problem.inputs);
    Array point = problem.inputs.clone(), velocity = array::zeros_like(point);
    for (std::size_t i = 0; i < steps_; ++i) {
      velocity = decay_ * velocity + unit_of(network.gradient(problem, point, objective), Norm::l1).direction;
      point.add_(steepest(velocity, ball_.norm), step_);
      region.keep(point);
    }
    return point;
  }

 private:
  Ball ball_;
  std::size_t steps_;
  double decay_, step_;
};

}  // namespace

AttackInfo mi_fgsm_attack() {
  return {.name = "mi-fgsm",
          .summary = "momentum iterative FGSM: steps along an average of the gradients so far",
          .definition =
              "g = decay * g + gradient / |gradient|_1, then x' = clip(x' + step * sign(g)) within eps of "
              "the record, `steps` times from g = 0.",
          .limits = "Made to carry over to other networks; against the network itself pgd finds more.",
          .paper = "Dong et al., Boosting Adversarial Attacks with Momentum, CVPR 2018",
          .options = {{"eps", "0.3", "radius of the ball, as a share of the valid range"},
                      {"steps", "10", "number of steps"},
                      {"step", "", "length of a step; eps / steps if empty"},
                      {"decay", "1", "weight of the earlier direction"},
                      {"norm", "linf", "linf or l2"}},
          .severities = {{"eps", 0, true}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<MiFgsm>(options);
          }};
}

}  // namespace assay::attack
