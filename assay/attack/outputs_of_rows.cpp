#include "assay/attack/outputs_of_rows.h"

#include <ATen/ATen.h>

namespace assay::attack {
namespace {

Tensor on_host(const Tensor& tensor) {
  return tensor.defined() ? tensor.to(at::kCPU, at::kFloat).contiguous() : tensor;
}

float at(const Tensor& tensor, std::size_t row, std::size_t i, std::size_t size) {
  return tensor.data_ptr<float>()[row * size + i];
}

}  // namespace

OutputsOfRows::OutputsOfRows(const AttackedNetwork& network, const AttackProblem& problem)
    : regression_(network.regression()),
      zero_(network.sigmoid() ? 0.5F : 0.0F),
      margin_(static_cast<float>(problem.margin)),
      reference_(on_host(problem.reference)),
      direction_(on_host(problem.direction)) {}

void OutputsOfRows::differentiate(std::span<const AttackedNetwork::Objective> objectives, std::size_t row,
                                  std::span<const float> outputs, std::span<float> slopes) const {
  const std::size_t size = outputs.size();
  if (!regression_ && size > 1) {
    for (std::size_t o = 0; o < objectives.size(); ++o)
      objectives[o](row, outputs, slopes.subspan(o * size, size));
    return;
  }
  const auto along = [&](std::size_t i) { return regression_ ? at(direction_, row, i, size) : 1.0F; };
  float yes = regression_ ? -margin_ : -zero_;
  for (std::size_t i = 0; i < size; ++i)
    yes += along(i) * (outputs[i] - (regression_ ? at(reference_, row, i, size) : 0.0F));
  const float scores[] = {yes * -0.5F, yes * 0.5F};
  for (std::size_t o = 0; o < objectives.size(); ++o) {
    float of_scores[2] = {};
    objectives[o](row, scores, of_scores);
    for (std::size_t i = 0; i < size; ++i)
      slopes[o * size + i] += along(i) * (of_scores[1] - of_scores[0]) * 0.5F;
  }
}

}  // namespace assay::attack
