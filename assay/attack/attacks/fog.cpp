// Fog: a light cloud over the picture, in the way of CIFAR-10-C.

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/corruption.h"

namespace assay::attack {
namespace {

// Heights on a square whose opposite edges meet, by the diamond-square method (Fournier, Fussell, Carpenter,
// 1982): points between known ones are their means and a random change, and changes get smaller as points get
// closer.
class Cloud {
 public:
  Cloud(std::size_t side, double decay, Rng& rng) : side_(side), heights_(side * side), rng_(rng) {
    double wobble = 1;
    for (std::size_t step = side; step >= 2; step /= 2) {
      fill(step, wobble);
      wobble /= decay * decay;
    }
    const auto [least, most] = std::ranges::minmax(heights_);
    for (double& height : heights_) height = most > least ? (height - least) / (most - least) : 0;
  }
  double at(std::size_t row, std::size_t column) const {
    return heights_[row % side_ * side_ + column % side_];
  }

 private:
  double between(double a, double b, double c, double d, double wobble) {
    return (a + b + c + d) / 4 + rng_.uniform(-wobble, wobble);
  }
  // The middles of squares, then those of their sides.
  void fill(std::size_t step, double wobble) {
    const std::size_t half = step / 2;
    for (std::size_t r = 0; r < side_; r += step)
      for (std::size_t c = 0; c < side_; c += step)
        heights_[(r + half) * side_ + c + half] =
            between(at(r, c), at(r + step, c), at(r, c + step), at(r + step, c + step), wobble);
    for (std::size_t r = 0; r < side_; r += step) {
      for (std::size_t c = 0; c < side_; c += step) {
        heights_[r * side_ + c + half] = between(at(r, c), at(r, c + step), at(r + half, c + half),
                                                 at(r + side_ - half, c + half), wobble);
        heights_[(r + half) * side_ + c] = between(at(r, c), at(r + step, c), at(r + half, c + half),
                                                   at(r + half, c + side_ - half), wobble);
      }
    }
  }

  std::size_t side_;
  std::vector<double> heights_;
  Rng& rng_;
};

class Fog final : public Attack {
 public:
  explicit Fog(const SpecOptions& options)
      : amount_(strength(options, {0.2, 0.5, 0.75, 1, 1.5})),
        decay_(std::array{3.0, 3.0, 2.5, 2.0, 1.75}[options.count("severity", 1) - 1]) {}

  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    require_pictures(problem, "fog");
    Array foggy = problem.inputs.contiguous().clone();
    const std::size_t rows = foggy.size(2), columns = foggy.size(3), size = foggy.size(1) * rows * columns;
    std::size_t side = 2;
    while (side < std::max(rows, columns)) side *= 2;
    for (std::size_t r = 0; r < problem.keys.size(); ++r) {
      Rng rng = problem.rng(r);
      const Cloud cloud(side, decay_, rng);
      const std::span<float> picture(foggy.elements<float>() + r * size, size);
      const double most = std::ranges::max(picture);
      if (most + amount_ <= 0) continue;
      for (std::size_t i = 0; i < size; ++i) {
        const double light = amount_ * cloud.at(i / columns % rows, i % columns);
        const double seen = (static_cast<double>(picture[i]) + light) * most / (most + amount_);
        picture[i] = static_cast<float>(std::clamp(seen, 0.0, 1.0));
      }
    }
    return foggy;
  }

 private:
  double amount_, decay_;
};

}  // namespace

AttackInfo fog_attack() {
  return {.name = "fog",
          .summary = "a light cloud over the picture",
          .definition =
              "clip((x + amount c) m / (m + amount), 0, 1), m the greatest element of the picture; c is a "
              "cloud between 0 and 1, the same for all channels, by the diamond-square method, whose random "
              "changes get smaller by the square of 3, 3, 2.5, 2, 1.75 (by severity) from step to step.",
          .limits = "Not an attack: a network should withstand it. The cloud is another for each record.",
          .paper = "severities of CIFAR-10-C: Hendrycks, Dietterich, ICLR 2019",
          .options = corruption_options("how bright the cloud is; by severity 0.2, 0.5, 0.75, 1, 1.5"),
          .severities = corruption_severities(),
          .target = "",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Fog>(options);
          }};
}

}  // namespace assay::attack
