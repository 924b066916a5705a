// Weight shuffling (Ma et al., DeepMutation, ISSRE 2018).

#include <algorithm>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {
namespace {

constexpr int most_shuffles = 16;  // of one neuron, until a permutation changes something

// Permutes the weights of one neuron in one constant. Weights that are all equal cannot be told apart and
// stay.
void shuffle(const MutationSite& target, Edit& edit, const LayerWeights& weights, std::int64_t neuron) {
  const NeuronLayout& layout = *weights.layout;
  std::vector<float> original;
  for (std::int64_t k = 0; k < layout.per_neuron(); ++k)
    original.push_back(edit.weight(weights, layout.index(neuron, k)));
  if (std::ranges::adjacent_find(original, std::ranges::not_equal_to()) == original.end()) return;
  std::vector<float> shuffled = original;
  for (int i = 0; i < most_shuffles && shuffled == original; ++i) target.rng.shuffle(shuffled);
  for (std::size_t k = 0; k < shuffled.size(); ++k) {
    edit.set_weight(target.layer, weights, layout.index(neuron, k), shuffled[k]);
  }
}

}  // namespace

OperatorInfo ws_operator() {
  return {.name = "ws",
          .title = "weight shuffling",
          .summary = "permutes the incoming weights of some neurons",
          .definition =
              "the incoming weights of a chosen neuron are permuted at random: of a dense neuron its row or "
              "column, of a convolution all weights of one output channel, of a recurrent neuron those of "
              "all its gates, W and R each within itself; biases stay",
          .limits = "neurons whose weights are all equal are left out",
          .paper = "Ma et al., DeepMutation, ISSRE 2018",
          .level = OperatorInfo::Level::neuron,
          .options = site_options(OperatorInfo::Level::neuron, "0.01", "0"),
          .refusal = [](const SubjectLayer& layer, const SpecOptions&) -> std::string {
            const bool known = std::ranges::all_of(
                layer.weights, [](const LayerWeights& w) { return w.layout.has_value(); });
            if (!known) return "its weights belong to no single neuron";
            const bool several = std::ranges::any_of(
                layer.weights, [](const LayerWeights& w) { return w.layout->per_neuron() > 1; });
            return several ? "" : "each neuron has one weight only";
          },
          .apply =
              [](const MutationSite& target, Edit& edit) {
                for (const std::int64_t neuron : target.sites) {
                  for (const LayerWeights& weights : target.layer.weights)
                    shuffle(target, edit, weights, neuron);
                }
              }};
}

}  // namespace assay::mutation
