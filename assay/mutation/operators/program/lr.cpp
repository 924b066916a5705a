// Layer removal before training (Ma et al., DeepMutation, ISSRE 2018).

#include <assay/extend/mutation_operator.h>
#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include "assay/mutation/operators/family.h"

namespace assay::mutation {
namespace {

// Batch normalisations, which stand between layers or inside of one.
const Node* normalisation_named(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes())
    if (node.op == "BatchNormalization" && node.name == name) return &node;
  return nullptr;
}

ProgramChange remove_normalisation(const Node& node, Program& program) {
  GraphBuilder builder(program.graph);
  builder.replace_node(program.graph.producer(node.outputs[0]), {.name = node.name,
                                                                 .op = "Identity",
                                                                 .inputs = {node.inputs[0]},
                                                                 .outputs = {node.outputs[0]},
                                                                 .attributes = {}});
  program.graph = builder.build();
  return {1, node.name + " is the identity"};
}

}  // namespace

OperatorInfo lr_operator() {
  const ProgramFault layers = before_training(ld_operator());
  return {
      .name = "lr",
      .title = "layer removal",
      .summary = "a layer whose input and output have the same shape is left out before training",
      .definition =
          "the change of ld made before training, for layers with weights of equal input and output shape; "
          "or one batch normalisation becomes the identity",
      .limits = "one mutant per layer; branches around the layer stay as they are",
      .paper = "Ma et al., DeepMutation, ISSRE 2018",
      .level = OperatorInfo::Level::structure,
      .program = {.places =
                      [layers](const Program& program, const Subject& subject, const SpecOptions& options) {
                        std::vector<Place> places = layers.places(program, subject, options);
                        for (const Node& node : program.graph.nodes())
                          if (node.op == "BatchNormalization") places.push_back({node.name, ""});
                        return places;
                      },
                  .apply =
                      [layers](const ProgramSite& site, Program& program) {
                        const Node* node = normalisation_named(site.subject.graph(), site.place);
                        return node != nullptr ? remove_normalisation(*node, program)
                                               : layers.apply(site, program);
                      }}};
}

}  // namespace assay::mutation
