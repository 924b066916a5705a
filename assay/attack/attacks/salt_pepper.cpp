// Pixels that fail: black or white.

#include <assay/attack.h>
#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include "assay/attack/pixels.h"

namespace assay::attack {
namespace {

class SaltPepper final : public Attack {
 public:
  explicit SaltPepper(const SpecOptions& options) : share_(options.number("share", 0)) {
    if (share_ > 1) fail(Fault::usage, "attack 'salt-pepper': share={} is above 1", share_);
  }

  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    const auto chosen = random_pixels(problem, pixels_in(pixels_of(problem.inputs), share_));
    return with_pixels(problem, chosen, [](Rng& rng, std::span<float*> pixel) {
      const float value = rng.below(2) == 0 ? 0.0F : 1.0F;
      for (float* const channel : pixel) *channel = value;
    });
  }

 private:
  double share_;
};

}  // namespace

AttackInfo salt_pepper_attack() {
  return {.name = "salt-pepper",
          .summary = "random pixels set to the least or the greatest value",
          .definition =
              "floor(share * pixels) random pixels, all channels of each set to 0 or to 1 with equal chance. "
              "A pixel is a place of a picture, or an element of anything else.",
          .limits = "Not an attack: a network should withstand it.",
          .paper = "standard impulse noise; Gonzalez, Woods, Digital Image Processing",
          .options = {{"share", "0.05", "share of the pixels"}},
          .severities = {{"share"}},
          .target = "",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<SaltPepper>(options);
          }};
}

}  // namespace assay::attack
