// Layer deactivation (Ma et al., DeepMutation, ISSRE 2018).

#include <fmt/format.h>

#include <assay/extend/mutation_operator.h>
#include <assay/model.h>

namespace assay::mutation {
namespace {

// A final softmax stays: without it the output would be no probabilities.
ValueId replaced(const SubjectLayer& layer) {
  return layer.output_function ? layer.preactivation : layer.layer.value;
}

}  // namespace

OperatorInfo ld_operator() {
  return {.name = "ld",
          .title = "layer deactivation",
          .summary = "a layer whose input and output have the same shape becomes the identity",
          .definition =
              "everything from the layer's operator to the end of the layer (bias, batch normalisation, "
              "activation function) is replaced by the identity; a "
              "final softmax or sigmoid stays",
          .limits = "one mutant per layer; branches around the layer stay as they are",
          .paper = "Ma et al., DeepMutation, ISSRE 2018",
          .level = OperatorInfo::Level::layer,
          .refusal = [](const SubjectLayer& layer, const SpecOptions&) -> std::string {
            return layer.keeps_shape() ? "" : shapes_differ(layer);
          },
          .apply =
              [](const MutationSite& target, Edit& edit) {
                const SubjectLayer& layer = target.layer;
                const NodeId producer = edit.subject().graph().producer(replaced(layer));
                edit.restructure([&layer, producer](GraphBuilder& builder) {
                  const std::string name = builder.node(producer).name;
                  builder.replace_node(producer, {.name = name,
                                                  .op = "Identity",
                                                  .inputs = {layer.input},
                                                  .outputs = {replaced(layer)},
                                                  .attributes = {}});
                });
                edit.note(layer, -1, "is the identity");
              }};
}

}  // namespace assay::mutation
