// A lens out of focus.

#include <assay/array_math.h>

#include <assay/attack.h>
#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/corruption.h"

namespace assay::attack {
namespace {

class Blur final : public Attack {
 public:
  explicit Blur(const SpecOptions& options) : sigma_(strength(options, {0.4, 0.6, 0.7, 0.8, 1.0})) {
    if (!(sigma_ > 0) || sigma_ > 1000)
      fail(Fault::usage, "attack 'blur': amount={} must be above 0 and at most 1000", sigma_);
  }

  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    require_pictures(problem, "blur");
    return gaussian_blur(problem.inputs, sigma_).clamp(0, 1);
  }

 private:
  double sigma_;
};

}  // namespace

AttackInfo blur_attack() {
  return {.name = "blur",
          .summary = "Gaussian blur",
          .definition =
              "The mean over places at distance d with weights exp(-d^2 / (2 amount^2)), cut at 4 * amount; "
              "beyond the edge, the edge pixel.",
          .limits = "Not an attack: a network should withstand it.",
          .paper = "severities of CIFAR-10-C: Hendrycks, Dietterich, ICLR 2019",
          .options = corruption_options("standard deviation in pixels; by severity 0.4, 0.6, 0.7, 0.8, 1"),
          .severities = corruption_severities(),
          .target = "",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Blur>(options);
          }};
}

}  // namespace assay::attack
