#include "assay/engine/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/error.h>

namespace assay {

double cross_entropy(std::span<const float> scores, std::size_t label, double factor,
                     std::span<float> slopes) {
  if (label >= scores.size()) fail(Fault::data, "there is no class {} among {} scores", label, scores.size());
  double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (c != label) greatest = std::max(greatest, double{scores[c]});
  }
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (c != label) sum += std::exp(scores[c] - greatest);
  }
  const double others = greatest + std::log(sum), behind = others - scores[label];
  const double wrong = factor / (1 + std::exp(-behind));
  for (std::size_t c = 0; c < scores.size(); ++c)
    slopes[c] += static_cast<float>(c == label ? -wrong : wrong * std::exp(scores[c] - others));
  return std::max(behind, 0.0) + std::log1p(std::exp(-std::abs(behind)));
}

}  // namespace assay
