#include "assay/mutation/operators/integer_rounding.h"

#include <algorithm>
#include <cmath>

namespace assay::mutation {
namespace {

void round_neuron(const MutationSite& target, Edit& edit, const LayerWeights& weights,
                  const NeuronLayout& layout, std::int64_t neuron, float greatest) {
  float range = 0;
  for (std::int64_t k = 0; k < layout.per_neuron(); ++k) {
    const float magnitude = std::abs(edit.weight(weights, layout.index(neuron, k)));
    if (std::isfinite(magnitude)) range = std::max(range, magnitude);
  }
  const float scale = range / greatest;
  if (scale == 0) return;
  for (std::int64_t k = 0; k < layout.per_neuron(); ++k) {
    const std::int64_t index = layout.index(neuron, k);
    const float w = edit.weight(weights, index);
    if (!std::isfinite(w)) continue;
    edit.set_weight(target.layer, weights, index,
                    scale * std::clamp(std::nearbyint(w / scale), -greatest, greatest));
  }
}

}  // namespace

void round_to_integers(const MutationSite& target, Edit& edit, float greatest) {
  for (const LayerWeights& weights : target.layer.weights) {
    const NeuronLayout layout =
        weights.layout.value_or(NeuronLayout{.outer = 1, .before = 1, .inner = 1, .after = weights.count});
    for (std::int64_t neuron = 0; neuron < layout.neurons(); ++neuron)
      round_neuron(target, edit, weights, layout, neuron, greatest);
  }
}

}  // namespace assay::mutation
