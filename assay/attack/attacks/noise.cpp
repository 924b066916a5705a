// White noise on every element.

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include "assay/attack/norms.h"

namespace assay::attack {
namespace {

class Noise final : public Attack {
 public:
  explicit Noise(const SpecOptions& options) : sigma_(options.number("sigma", 0)) {}

  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    const Array noise = drawn(problem, 0, [](Rng& rng) { return static_cast<float>(rng.normal()); });
    return stepped(problem.inputs, noise, sigma_);
  }

 private:
  double sigma_;
};

}  // namespace

AttackInfo noise_attack() {
  return {.name = "noise",
          .summary = "Gaussian noise on every element",
          .definition = "clip(x + sigma * n, 0, 1), n independent standard normal numbers.",
          .limits = "Not an attack: a network should withstand it.",
          .paper = "Gerasimou et al., Importance-Driven Deep Learning System Testing, ICSE 2020 (RQ3)",
          .options = {{"sigma", "0.3", "standard deviation, as a share of the valid range"}},
          .severities = {{"sigma"}},
          .target = "",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Noise>(options);
          }};
}

}  // namespace assay::attack
