// Neuron activation inverse (Ma et al., DeepMutation, ISSRE 2018).

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/neuron_mask.h"

namespace assay::mutation {
namespace {

void negate(const MutationSite& target, Edit& edit, const LayerWeights& weights, std::int64_t neuron) {
  for (std::int64_t k = 0; k < weights.layout->per_neuron(); ++k) {
    const std::int64_t index = weights.layout->index(neuron, k);
    edit.set_weight(target.layer, weights, index, -edit.weight(weights, index));
  }
}

}  // namespace

OperatorInfo nai_operator() {
  return {.name = "nai",
          .title = "neuron activation inverse",
          .summary = "flips the sign of the pre-activation of some neurons",
          .definition =
              "a chosen neuron with pre-activation z and activation function f gives f(-z) instead of f(z). "
              "Done by negating constants, which is exact: its "
              "incoming weights and bias, or scale and shift of the batch normalisation between them and f; "
              "by multiplying z with -1 where the network "
              "has no such constants. Of a recurrent neuron the pre-activations of all gates are flipped",
          .limits = "a layer without activation function gives -z",
          .paper = "Ma et al., DeepMutation, ISSRE 2018",
          .level = OperatorInfo::Level::neuron,
          .options = site_options(OperatorInfo::Level::neuron, "0.01", "0"),
          .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
          .apply =
              [](const MutationSite& target, Edit& edit) {
                if (target.sites.empty()) return;
                if (target.layer.negatable.empty()) {
                  multiply_neurons(edit, target.layer, target.layer.preactivation, target.sites, -1, "nai");
                  for (const std::int64_t neuron : target.sites)
                    edit.note(target.layer, neuron, "pre-activation negated");
                  return;
                }
                for (const std::int64_t neuron : target.sites) {
                  for (const LayerWeights& weights : target.layer.negatable)
                    negate(target, edit, weights, neuron);
                }
              }};
}

}  // namespace assay::mutation
