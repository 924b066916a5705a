// FGSM in small steps.

#include <assay/attack.h>
#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/iterate.h"

namespace assay::attack {
namespace {

class Bim final : public Attack {
 public:
  explicit Bim(const SpecOptions& options)
      : ball_(options), step_(options.number("step", 0)), steps_(options.count("steps", 1)) {
    if (step_ > ball_.eps)
      fail(Fault::usage, "attack 'bim': step={} is longer than eps={}; one step would leave the ball", step_,
           ball_.eps);
  }

  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    return ascend(network, problem, problem.inputs, ball_, step_, steps_);
  }

 private:
  Ball ball_;
  double step_;
  std::size_t steps_;
};

}  // namespace

AttackInfo bim_attack() {
  return {.name = "bim",
          .summary = "basic iterative method: FGSM in small steps that stay within eps of the record",
          .definition =
              "`steps` times x' = clip(x' + step * sign(gradient), 0, 1), then x' = clip(x + clip(x' - x, "
              "-eps, eps), 0, 1); y is fixed "
              "by the clean record and all steps are made, whatever the network says on the way.",
          .limits =
              "Starts at the record itself, where the gradient may vanish; pgd starts anywhere in the ball.",
          .paper = "Kurakin, Goodfellow, Bengio, Adversarial Examples in the Physical World, 2016",
          .options = {{"eps", "0.3", "radius of the ball, as a share of the valid range"},
                      {"step", "0.05", "length of a step"},
                      {"steps", "10", "number of steps"},
                      {"norm", "linf", "linf or l2"}},
          .severities = {{"eps", 0, true}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Bim>(options);
          }};
}

}  // namespace assay::attack
