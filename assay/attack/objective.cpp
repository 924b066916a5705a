#include "assay/attack/objective.h"

#include <assay/extend/attack_problem.h>

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "assay/engine/evaluation/cross_entropy.h"

namespace assay::attack {
namespace {

std::vector<std::int64_t> classes_of(const AttackProblem& problem) {
  return numbers(problem.targeted() ? problem.targets : problem.labels);
}

}  // namespace

AttackedNetwork::Objective loss(const AttackProblem& problem) {
  return [classes = classes_of(problem), sign = problem.targeted() ? -1.0 : 1.0](
             std::size_t row, std::span<const float> scores, std::span<float> slopes) {
    direction_of_cross_entropy(scores, static_cast<std::size_t>(classes[row]), sign, slopes);
  };
}

AttackedNetwork::Objective score_of(const Tensor& classes) {
  return [classes = numbers(classes)](std::size_t row, std::span<const float>, std::span<float> slopes) {
    slopes[static_cast<std::size_t>(classes[row])] += 1;
  };
}

AttackedNetwork::Objective lead_of(const Tensor& classes, const Tensor& over) {
  return [classes = numbers(classes), over = numbers(over)](std::size_t row, std::span<const float>,
                                                            std::span<float> slopes) {
    slopes[static_cast<std::size_t>(classes[row])] += 1;
    slopes[static_cast<std::size_t>(over[row])] -= 1;
  };
}

AttackedNetwork::Objective hinge_of_margin(const AttackProblem& problem, const Tensor& constants,
                                           double confidence) {
  const Tensor host = constants.to(at::kCPU, at::kFloat).contiguous();
  return [host, classes = classes_of(problem), targeted = problem.targeted(), confidence](
             std::size_t row, std::span<const float> scores, std::span<float> slopes) {
    const auto own = static_cast<std::size_t>(classes[row]);
    float best = -std::numeric_limits<float>::infinity(), ties = 0;
    for (std::size_t c = 0; c < scores.size(); ++c) {
      if (c == own || scores[c] < best) continue;
      ties = scores[c] > best ? 1 : ties + 1;
      best = scores[c];
    }
    const float lead = scores[own] - best, slope = (targeted ? -1.0F : 1.0F) * host.data_ptr<float>()[row];
    if ((targeted ? -lead : lead) + confidence < 0) return;
    slopes[own] += slope;
    for (std::size_t c = 0; c < scores.size(); ++c)
      if (c != own && scores[c] == best) slopes[c] -= slope / ties;
  };
}

Tensor rivals_of(const AttackProblem& problem, std::size_t most) {
  if (problem.targeted()) return problem.targets.unsqueeze(1);
  const Tensor others =
      problem.scores.scatter(1, problem.labels.unsqueeze(1), -std::numeric_limits<float>::infinity());
  const std::int64_t count = std::min(static_cast<std::int64_t>(most), problem.scores.size(1) - 1);
  return std::get<1>(others.sort(/*stable=*/true, 1, /*descending=*/true)).narrow(1, 0, count);
}

Tensor margin(const AttackProblem& problem, const Tensor& scores) {
  const Tensor index = (problem.targeted() ? problem.targets : problem.labels).unsqueeze(1);
  const Tensor own = scores.gather(1, index).squeeze(1);
  const Tensor best = scores.scatter(1, index, -std::numeric_limits<float>::infinity()).amax(1);
  return problem.targeted() ? best - own : own - best;
}

}  // namespace assay::attack
