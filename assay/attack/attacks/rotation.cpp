// A camera that is not level.

#include <assay/array_math.h>

#include <cmath>
#include <numbers>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/corruption.h"

namespace assay::attack {
namespace {

class Rotation final : public Attack {
 public:
  explicit Rotation(const SpecOptions& options) : degrees_(strength(options, {5, 10, 15, 20, 30})) {}

  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    require_pictures(problem, "rotation");
    const double aspect = static_cast<double>(problem.inputs.size(2)) / problem.inputs.size(3);
    std::vector<float> maps;
    for (const double sign : random_signs(problem)) {
      const double angle = sign * degrees_ * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
      for (const double m : {c, -s * aspect, 0.0, s / aspect, c, 0.0}) maps.push_back(static_cast<float>(m));
    }
    return resampled(problem.inputs, array::tensor(maps).reshape({problem.size(), 2, 3})).clamp(0, 1);
  }

 private:
  double degrees_;
};

}  // namespace

AttackInfo rotation_attack() {
  return {
      .name = "rotation",
      .summary = "turned about the centre, left or right at random",
      .definition =
          "The picture turned by amount degrees about its centre, the direction drawn per record; bilinear, "
          "beyond the edge the edge pixel.",
      .limits =
          "Not an attack: a network should withstand it. A strong rotation can change what the picture "
          "shows.",
      .paper = "Tian et al., DeepTest, ICSE 2018 (the transformation; severities are our own)",
      .options = corruption_options("degrees; by severity 5, 10, 15, 20, 30"),
      .severities = corruption_severities(),
      .target = "",
      .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
        return std::make_unique<Rotation>(options);
      }};
}

}  // namespace assay::attack
