#include "assay/engine/evaluation/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/error.h>

namespace assay::inline engine {

namespace {

// Log-sum-exp of the scores of all other classes.
double others_of(std::span<const float> scores, std::size_t label) {
  if (label >= scores.size()) fail(Fault::data, "there is no class {} among {} scores", label, scores.size());
  double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (c != label) greatest = std::max(greatest, double{scores[c]});
  }
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (c != label) sum += std::exp(scores[c] - greatest);
  }
  return greatest + std::log(sum);
}

void add_gradients(std::span<const float> scores, std::size_t label, double others, double wrong,
                   std::span<float> gradients) {
  for (std::size_t c = 0; c < scores.size(); ++c)
    gradients[c] += static_cast<float>(c == label ? -wrong : wrong * std::exp(scores[c] - others));
}

}  // namespace

double cross_entropy(std::span<const float> scores, std::size_t label, double factor,
                     std::span<float> gradients) {
  const double others = others_of(scores, label), behind = others - scores[label];
  add_gradients(scores, label, others, factor / (1 + std::exp(-behind)), gradients);
  return std::max(behind, 0.0) + std::log1p(std::exp(-std::abs(behind)));
}

void direction_of_cross_entropy(std::span<const float> scores, std::size_t label, double factor,
                                std::span<float> gradients) {
  const double others = others_of(scores, label), wrong = 1 / (1 + std::exp(scores[label] - others));
  int power = 0;
  // Nothing is left of 1 - p in double precision, either: any scale will do.
  const double scaled = wrong > 0 ? std::frexp(wrong, &power) : 0.5;
  add_gradients(scores, label, others, factor * scaled, gradients);
}

}  // namespace assay::inline engine
