// The content of the picture appears larger or smaller.

#include <assay/array_math.h>

#include <assay/attack.h>
#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/corruption.h"

namespace assay::attack {
namespace {

class Scale final : public Attack {
 public:
  explicit Scale(const SpecOptions& options) : amount_(strength(options, {0.05, 0.1, 0.15, 0.2, 0.3})) {
    if (amount_ < 0 || amount_ > 10)
      fail(Fault::usage, "attack 'scale': amount={} must be from 0 to 10", amount_);
  }

  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    require_pictures(problem, "scale");
    std::vector<float> maps;
    for (const double sign : random_signs(problem)) {
      const double inverse = sign > 0 ? 1 / (1 + amount_) : 1 + amount_;
      for (const double m : {inverse, 0.0, 0.0, 0.0, inverse, 0.0}) maps.push_back(static_cast<float>(m));
    }
    return resampled(problem.inputs, array::tensor(maps).reshape({problem.size(), 2, 3})).clamp(0, 1);
  }

 private:
  double amount_;
};

}  // namespace

AttackInfo scale_attack() {
  return {.name = "scale",
          .summary = "larger or smaller about the centre, at random",
          .definition =
              "The picture enlarged by the factor 1 + amount or shrunk by it about its centre, drawn per "
              "record; bilinear, beyond the edge the edge pixel.",
          .limits = "Not an attack: a network should withstand it.",
          .paper = "Tian et al., DeepTest, ICSE 2018 (the transformation; severities are our own)",
          .options = corruption_options("the factor less 1; by severity 0.05, 0.1, 0.15, 0.2, 0.3"),
          .severities = corruption_severities(),
          .target = "",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Scale>(options);
          }};
}

}  // namespace assay::attack
