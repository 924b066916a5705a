// The content of the picture is shifted.

#include <assay/array_math.h>

#include <cmath>
#include <numbers>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/corruption.h"

namespace assay::attack {
namespace {

class Translation final : public Attack {
 public:
  explicit Translation(const SpecOptions& options)
      : share_(strength(options, {0.03, 0.06, 0.1, 0.15, 0.2})) {}

  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    require_pictures(problem, "translation");
    std::vector<float> maps;
    for (std::size_t row = 0; row < problem.keys.size(); ++row) {
      const double angle = 2 * std::numbers::pi * problem.rng(row).uniform();
      // Coordinates go from -1 to 1, so a share of the side is twice as long.
      for (const double m :
           {1.0, 0.0, -2 * share_ * std::cos(angle), 0.0, 1.0, -2 * share_ * std::sin(angle)})
        maps.push_back(static_cast<float>(m));
    }
    return resampled(problem.inputs, array::tensor(maps).reshape({problem.size(), 2, 3})).clamp(0, 1);
  }

 private:
  double share_;
};

}  // namespace

AttackInfo translation_attack() {
  return {.name = "translation",
          .summary = "moved in a random direction",
          .definition =
              "The picture moved by amount times its width along cos(a) and its height along sin(a), the "
              "angle a drawn per record; bilinear, "
              "beyond the edge the edge pixel.",
          .limits =
              "Not an attack: a network should withstand it. A strong translation can move the object out of "
              "the picture.",
          .paper = "Tian et al., DeepTest, ICSE 2018 (the transformation; severities are our own)",
          .options = corruption_options("share of the sides; by severity 0.03, 0.06, 0.1, 0.15, 0.2"),
          .severities = corruption_severities(),
          .target = "",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Translation>(options);
          }};
}

}  // namespace assay::attack
