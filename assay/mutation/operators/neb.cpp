// Neuron effect blocking (Ma et al., DeepMutation, ISSRE 2018).

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/neuron_mask.h"
#include "assay/mutation/operators/outgoing.h"

namespace assay::mutation {

OperatorInfo neb_operator() {
  return {.name = "neb",
          .title = "neuron effect blocking",
          .summary = "some neurons no longer reach what comes after them",
          .definition =
              "the outgoing weights of a chosen neuron are zeroed: the neuron is multiplied by 0 at the last "
              "values that still hold it by itself, past "
              "pooling, dropout, batch normalisation and further activation functions, in every branch. What "
              "the next layer receives from it is 0, also where "
              "a batch normalisation or sigmoid in between would make something else of 0",
          .limits =
              "of a recurrent layer the weights to the next layer are meant; the recurrence inside goes on. "
              "stuck[value=0] instead sets the activation itself "
              "to 0 (neuron inhibition): the same if nothing is between the activation and the next layer's "
              "weights",
          .paper = "Ma et al., DeepMutation, ISSRE 2018",
          .level = OperatorInfo::Level::neuron,
          .options = site_options(OperatorInfo::Level::neuron, "0.01", "0"),
          .refusal = [](const SubjectLayer& layer, const SpecOptions&) -> std::string {
            if (layer.last)
              return "no layer with weights comes after it, so that its neurons have no outgoing weights";
            return layer.several_outputs ? "several outputs of the recurrent operator are read" : "";
          },
          .apply =
              [](const MutationSite& target, Edit& edit) {
                if (target.sites.empty()) return;
                for (const ValueId value : outgoing_values(edit.subject(), target.layer)) {
                  multiply_neurons(edit, target.layer, value, target.sites, 0, "neb");
                }
                for (const std::int64_t neuron : target.sites) edit.note(target.layer, neuron, "blocked");
              }};
}

}  // namespace assay::mutation
