// Less difference between light and dark, or more.

#include <assay/array_math.h>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/corruption.h"

namespace assay::attack {
namespace {

class Contrast final : public Attack {
 public:
  explicit Contrast(const SpecOptions& options) : factor_(strength(options, {0.75, 0.5, 0.4, 0.3, 0.15})) {}

  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    require_pictures(problem, "contrast");
    const Array mean = problem.inputs.mean({2, 3}, /*keepdim=*/true);
    return ((problem.inputs - mean) * factor_ + mean).clamp(0, 1);
  }

 private:
  double factor_;
};

}  // namespace

AttackInfo contrast_attack() {
  return {.name = "contrast",
          .summary = "every channel nearer to its mean",
          .definition = "clip((x - mean) * amount + mean, 0, 1), the mean over the places of each channel.",
          .limits = "Not an attack: a network should withstand it.",
          .paper = "severities of CIFAR-10-C: Hendrycks, Dietterich, ICLR 2019",
          .options =
              corruption_options("factor, above 1 for more contrast; by severity 0.75, 0.5, 0.4, 0.3, 0.15"),
          .severities = corruption_severities(1),
          .target = "",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Contrast>(options);
          }};
}

}  // namespace assay::attack
