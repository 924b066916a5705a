// One step along the steepest direction of the loss.

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/norms.h"
#include "assay/attack/objective.h"

namespace assay::attack {
namespace {

class Fgsm final : public Attack {
 public:
  explicit Fgsm(const SpecOptions& options)
      : eps_(options.number("eps", 0)), norm_(norm_named(options.word("norm", norm_names()))) {}

  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    const Array gradient = network.gradient(problem, problem.inputs, loss(problem));
    return stepped(problem.inputs, steepest(gradient, norm_), eps_);
  }

 private:
  double eps_;
  Norm norm_;
};

}  // namespace

AttackInfo fgsm_attack() {
  return {.name = "fgsm",
          .summary = "fast gradient sign method: one step that raises the loss most",
          .definition =
              "clip(x + eps * sign(gradient of CE(softmax(Z(x)), y)), 0, 1); norm l2 takes the gradient over "
              "its length, l1 shares eps among the elements of greatest gradient; with a target, the step "
              "that lowers CE(., target). sign(0) = 0.",
          .limits =
              "One step only: that it fails says little about the network. Gradients that vanish or are not "
              "finite do not move the element.",
          .paper = "Goodfellow, Shlens, Szegedy, Explaining and Harnessing Adversarial Examples, ICLR 2015",
          .options = {{"eps", "0.3", "length of the step, as a share of the valid range"},
                      {"norm", "linf", "linf, l2 or l1"}},
          .severities = {{"eps", 0, true}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Fgsm>(options);
          }};
}

}  // namespace assay::attack
