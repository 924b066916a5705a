#include "assay/attack/outputs_of_rows.h"

#include <cmath>

#include "assay/engine/elements.h"

namespace assay::attack {

OutputsOfRows::OutputsOfRows(const AttackedNetwork& network, const AttackProblem& problem)
    : threshold_(network.threshold()), change_(problem.change), places_(problem.places) {}

std::array<float, 2> OutputsOfRows::scores(std::size_t row, std::span<const float> outputs) const {
  const float yes = change_ ? change_->beyond(places_[row], outputs) : outputs[0] - threshold_;
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
    const float weight = (of_scores[1] - of_scores[0]) * 0.5F;
    if (change_)
      change_->differentiate(places_[row], outputs, weight, gradients.subspan(o * size, size));
    else
      gradients[o] += weight;
  }
}

std::vector<std::int64_t> decisions(const Array& scores) {
  const Array host = in_memory(scores, DType::float32);
  const std::size_t records = host.size(0), classes = host.size(1);
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
