#include "assay/attack/outputs_of_rows.h"

#include <cmath>

#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

Array on_host(const Array& tensor) { return tensor.defined() ? in_memory(tensor, DType::float32) : tensor; }

float at(const Array& tensor, std::size_t row, std::size_t i, std::size_t size) {
  return tensor.elements<float>()[row * size + i];
}

}  // namespace

OutputsOfRows::OutputsOfRows(const AttackedNetwork& network, const AttackProblem& problem)
    : regression_(network.regression()),
      zero_(network.threshold()),
      margin_(static_cast<float>(problem.margin)),
      reference_(on_host(problem.reference)),
      direction_(on_host(problem.direction)) {}

float OutputsOfRows::along(std::size_t row, std::size_t i, std::size_t size) const {
  return regression_ ? at(direction_, row, i, size) : 1.0F;
}

std::array<float, 2> OutputsOfRows::scores(std::size_t row, std::span<const float> outputs) const {
  const std::size_t size = outputs.size();
  float yes = regression_ ? -margin_ : -zero_;
  for (std::size_t i = 0; i < size; ++i)
    yes += along(row, i, size) * (outputs[i] - (regression_ ? at(reference_, row, i, size) : 0.0F));
  return {yes * -0.5F, yes * 0.5F};
}

void OutputsOfRows::differentiate(std::span<const AttackedNetwork::Objective> objectives, std::size_t row,
                                  std::span<const float> outputs, std::span<float> gradients) const {
  const std::size_t size = outputs.size();
  if (!of_two_classes(size)) {
    for (std::size_t o = 0; o < objectives.size(); ++o)
      objectives[o](row, outputs, gradients.subspan(o * size, size));
    return;
  }
  const std::array<float, 2> of_classes = scores(row, outputs);
  for (std::size_t o = 0; o < objectives.size(); ++o) {
    float of_scores[2] = {};
    objectives[o](row, of_classes, of_scores);
    for (std::size_t i = 0; i < size; ++i)
      gradients[o * size + i] += along(row, i, size) * (of_scores[1] - of_scores[0]) * 0.5F;
  }
}

std::vector<std::int64_t> decisions(const Array& scores) {
  const Array host = in_memory(scores, DType::float32);
  const auto records = static_cast<std::size_t>(host.size(0)),
             classes = static_cast<std::size_t>(host.size(1));
  std::vector<std::int64_t> decided(records);
  for (std::size_t row = 0; row < records; ++row) {
    const std::span<const float> of_row(host.elements<float>() + row * classes, classes);
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes && !std::isnan(of_row[best]); ++c) {
      if (of_row[c] > of_row[best] || std::isnan(of_row[c])) best = c;
    }
    decided[row] = static_cast<std::int64_t>(best);
  }
  return decided;
}

}  // namespace assay::attack
