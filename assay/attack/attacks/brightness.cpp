// More light, or less.

#include <assay/array_math.h>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/corruption.h"

namespace assay::attack {
namespace {

class Brightness final : public Attack {
 public:
  explicit Brightness(const SpecOptions& options) : amount_(strength(options, {0.05, 0.1, 0.15, 0.2, 0.3})) {}
  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    return (problem.inputs + amount_).clamp(0, 1);
  }

 private:
  double amount_;
};

}  // namespace

AttackInfo brightness_attack() {
  return {.name = "brightness",
          .summary = "every element greater by the same amount",
          .definition = "clip(x + amount, 0, 1).",
          .limits = "Not an attack: a network should withstand it.",
          .paper = "severities of CIFAR-10-C: Hendrycks, Dietterich, ICLR 2019 (who change the value of HSV)",
          .options =
              corruption_options("what is added, negative to darken; by severity 0.05, 0.1, 0.15, 0.2, 0.3"),
          .severities = corruption_severities(),
          .target = "",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Brightness>(options);
          }};
}

}  // namespace assay::attack
