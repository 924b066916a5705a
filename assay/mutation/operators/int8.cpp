// Weights in 8-bit integers.

#include <algorithm>
#include <cmath>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {
namespace {

constexpr float greatest = 127;

void quantise(const Strike& target, Edit& edit, const LayerWeights& weights, const NeuronLayout& layout,
              std::int64_t neuron) {
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

OperatorInfo int8_operator() {
  return {.name = "int8",
          .title = "int8 quantisation",
          .summary = "the weights of a layer are rounded to 8-bit integers times a scale",
          .definition =
              "symmetric, per neuron and constant: scale = max |w| / 127 over the neuron's weights, w "
              "becomes scale * round(w / scale), ties to even; per constant "
              "where weights belong to no single neuron. Computation stays float32, biases stay",
          .limits = "one mutant per layer; activations are not quantised",
          .paper = "a precision fault: the usual scheme of integer inference, Jacob et al., CVPR 2018",
          .level = OperatorInfo::Level::layer,
          .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
          .apply =
              [](const Strike& target, Edit& edit) {
                for (const LayerWeights& weights : target.layer.weights) {
                  const NeuronLayout layout = weights.layout.value_or(
                      NeuronLayout{.outer = 1, .before = 1, .inner = 1, .after = weights.count});
                  for (std::int64_t neuron = 0; neuron < layout.neurons(); ++neuron)
                    quantise(target, edit, weights, layout, neuron);
                }
              }};
}

}  // namespace assay::mutation
