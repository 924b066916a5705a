// A lens out of focus.

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "assay/attack/catalogue.h"
#include "assay/attack/corruption.h"
#include "assay/support/error.h"

namespace assay {
namespace {

// [length, length]: row i holds the weights of all places for place i. Places beyond the edge count for the edge.
Tensor gaussian(std::int64_t length, double sigma) {
  const Tensor weights = at::zeros({length, length}, at::kFloat);
  const auto reach = static_cast<std::int64_t>(std::ceil(4 * sigma));
  float* const w = weights.data_ptr<float>();
  for (std::int64_t i = 0; i < length; ++i) {
    for (std::int64_t d = -reach; d <= reach; ++d) {
      const double share = std::exp(-0.5 * static_cast<double>(d * d) / (sigma * sigma));
      w[i * length + std::clamp<std::int64_t>(i + d, 0, length - 1)] += static_cast<float>(share);
    }
  }
  return weights / weights.sum(1, true);
}

class Blur final : public Attack {
 public:
  explicit Blur(const SpecOptions& options) : sigma_(strength(options, {0.4, 0.6, 0.7, 0.8, 1.0})) {
    if (!(sigma_ > 0) || sigma_ > 1000) fail(Fault::usage, "attack 'blur': amount={} must be above 0 and at most 1000", sigma_);
  }

  Tensor perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    require_pictures(problem, "blur");
    const Tensor rows = gaussian(problem.inputs.size(2), sigma_).to(problem.inputs.device());
    const Tensor columns = gaussian(problem.inputs.size(3), sigma_).to(problem.inputs.device());
    return at::matmul(at::matmul(rows, problem.inputs), columns.t()).clamp(0, 1);
  }

 private:
  double sigma_;
};

}  // namespace

AttackInfo blur_attack() {
  return {.name = "blur",
          .summary = "Gaussian blur",
          .definition = "The mean over places at distance d with weights exp(-d^2 / (2 amount^2)), cut at 4 * amount; beyond the edge, the edge pixel.",
          .limits = "No attack: what a network should stand.",
          .paper = "severities of CIFAR-10-C: Hendrycks, Dietterich, ICLR 2019",
          .options = corruption_options("standard deviation in pixels; by severity 0.4, 0.6, 0.7, 0.8, 1"),
          .target = "",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> { return std::make_unique<Blur>(options); }};
}

}  // namespace assay
