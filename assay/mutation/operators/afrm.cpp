// Activation function removal (Ma et al., DeepMutation, ISSRE 2018).

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

OperatorInfo afrm_operator() {
  return {.name = "afrm",
          .title = "activation function removal",
          .summary = "the activation function of a whole layer is removed",
          .definition =
              "the layer gives its pre-activation instead of its activation, for activation functions of any "
              "kind, also those spelt out in several nodes; not a final softmax or sigmoid",
          .limits = "one mutant per layer; the functions inside recurrent cells stay",
          .paper = "Ma et al., DeepMutation, ISSRE 2018",
          .level = OperatorInfo::Level::layer,
          .refusal = [](const SubjectLayer& layer, const SpecOptions&) -> std::string {
            if (!layer.has_activation()) {
              return layer.layer.kind == OperatorKind::recurrent
                         ? "its activation functions are inside the recurrent cell"
                         : "it has no activation function";
            }
            return layer.output_function ? "its activation function gives the network's output" : "";
          },
          .apply =
              [](const MutationSite& target, Edit& edit) {
                const SubjectLayer& layer = target.layer;
                const NodeId producer = edit.subject().graph().producer(layer.layer.value);
                edit.restructure([&layer, producer](GraphBuilder& builder) {
                  const std::string name = builder.node(producer).name;
                  builder.replace_node(producer, {.name = name,
                                                  .op = "Identity",
                                                  .inputs = {layer.preactivation},
                                                  .outputs = {layer.layer.value},
                                                  .attributes = {}});
                });
                edit.note(layer, -1, "has no activation function");
              }};
}

}  // namespace assay::mutation
