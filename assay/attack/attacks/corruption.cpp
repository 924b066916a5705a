#include "assay/attack/attacks/corruption.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/extend/attack_problem.h>

namespace assay::attack {
namespace {

// [length, length]: row i holds the weights of all places for place i. Places beyond the edge count for the
// edge.
Array gaussian(std::int64_t length, double sigma) {
  const Array weights = array::zeros({length, length}, DType::float32);
  const auto reach = static_cast<std::int64_t>(std::ceil(4 * sigma));
  float* const w = weights.elements<float>();
  for (std::int64_t i = 0; i < length; ++i) {
    for (std::int64_t d = -reach; d <= reach; ++d) {
      const double share = std::exp(-0.5 * (d * d) / (sigma * sigma));
      w[i * length + std::clamp<std::int64_t>(i + d, 0, length - 1)] += static_cast<float>(share);
    }
  }
  return weights / weights.sum(1, true);
}

}  // namespace

double strength(const SpecOptions& options, const std::array<double, 5>& by_severity) {
  const std::size_t severity = options.count("severity", 1);
  if (severity > by_severity.size()) fail(Fault::usage, "severity={}: 1 (slight) to 5 (strong)", severity);
  return options.text("amount").empty() ? by_severity[severity - 1] : options.number("amount");
}

std::vector<SpecOption> corruption_options(const std::string& amount_summary) {
  return {{"severity", "3", "1 (slight) to 5 (strong)"}, {"amount", "", amount_summary}};
}

std::vector<Severity> corruption_severities(double nothing) { return {{"amount", nothing}, {"severity"}}; }

void require_pictures(const AttackProblem& problem, const std::string& attack) {
  if (problem.inputs.rank() == 4) return;
  fail(Fault::unsupported,
       "attack '{}' is for pictures [channels, height, width]; these records are {}; noise, salt-pepper and "
       "brightness take any",
       attack, to_string(Shape(problem.inputs.shape().begin() + 1, problem.inputs.shape().end())));
}

Array resampled(const Array& pictures, const Array& maps) {
  const Array grid = array::affine_grid(maps.to(pictures.dtype()), pictures.shape(), /*align_corners=*/false);
  return array::grid_sample(pictures, grid, array::Interpolation::bilinear, array::Outside::border,
                            /*align_corners=*/false);
}

Array gaussian_blur(const Array& pictures, double sigma) {
  const Array rows = gaussian(pictures.size(2), sigma), columns = gaussian(pictures.size(3), sigma);
  return array::matmul(array::matmul(rows, pictures), columns.t());
}

std::vector<double> random_signs(const AttackProblem& problem) {
  std::vector<double> signs;
  for (std::size_t row = 0; row < problem.keys.size(); ++row)
    signs.push_back(problem.rng(row).below(2) == 0 ? 1 : -1);
  return signs;
}

}  // namespace assay::attack
