#include "assay/attack/objective.h"

#include <assay/extend/attack_problem.h>

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "assay/engine/elements.h"
#include "assay/engine/evaluation/cross_entropy.h"

namespace assay::attack {
namespace {

std::vector<std::int64_t> classes_of(const AttackProblem& problem) {
  return numbers(problem.targeted() ? problem.targets : problem.labels);
}

}  // namespace

AttackedNetwork::Objective loss(const AttackProblem& problem) {
  return [classes = classes_of(problem), sign = problem.targeted() ? -1.0 : 1.0](
             std::size_t row, std::span<const float> scores, std::span<float> gradients) {
    direction_of_cross_entropy(scores, classes[row], sign, gradients);
  };
}

AttackedNetwork::Objective score_of(const Array& classes) {
  return [classes = numbers(classes)](std::size_t row, std::span<const float>, std::span<float> gradients) {
    gradients[classes[row]] += 1;
  };
}

AttackedNetwork::Objective lead_of(const Array& classes, const Array& over) {
  return [classes = numbers(classes), over = numbers(over)](std::size_t row, std::span<const float>,
                                                            std::span<float> gradients) {
    gradients[classes[row]] += 1;
    gradients[over[row]] -= 1;
  };
}

AttackedNetwork::Objective hinge_of_margin(const AttackProblem& problem, const Array& constants,
                                           double confidence) {
  const Array host = constants.to(DType::float32).contiguous();
  return [host, classes = classes_of(problem), targeted = problem.targeted(), confidence](
             std::size_t row, std::span<const float> scores, std::span<float> gradients) {
    const std::size_t own = classes[row];
    float best = -std::numeric_limits<float>::infinity(), ties = 0;
    for (std::size_t c = 0; c < scores.size(); ++c) {
      if (c == own || scores[c] < best) continue;
      ties = scores[c] > best ? 1 : ties + 1;
      best = scores[c];
    }
    const float lead = scores[own] - best, gradient = (targeted ? -1.0F : 1.0F) * host.elements<float>()[row];
    if ((targeted ? -lead : lead) + confidence < 0) return;
    gradients[own] += gradient;
    for (std::size_t c = 0; c < scores.size(); ++c)
      if (c != own && scores[c] == best) gradients[c] -= gradient / ties;
  };
}

Array rivals_of(const AttackProblem& problem, std::size_t most) {
  if (problem.targeted()) return problem.targets.unsqueeze(1);
  const Array others =
      array::scatter(problem.scores, 1, problem.labels.unsqueeze(1), -std::numeric_limits<float>::infinity());
  const std::int64_t count = std::min(static_cast<std::int64_t>(most), problem.scores.size(1) - 1);
  return array::sort(others, 1, /*descending=*/true).positions.narrow(1, 0, count);
}

Array margin(const AttackProblem& problem, const Array& scores) {
  const std::vector<float> all = floats_of(scores);
  const std::size_t classes = scores.size(1);
  const std::vector<std::int64_t> wanted = classes_of(problem);
  std::vector<float> found;
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    const std::span<const float> of_row = std::span(all).subspan(row * classes, classes);
    const std::size_t own = wanted[row];
    float best = -std::numeric_limits<float>::infinity();
    for (std::size_t c = 0; c < classes && !std::isnan(best); ++c)
      if (c != own && !(of_row[c] <= best)) best = of_row[c];
    found.push_back(problem.targeted() ? best - of_row[own] : of_row[own] - best);
  }
  return array::tensor(found);
}

}  // namespace assay::attack
