// Layer addition before training (Ma et al., DeepMutation, ISSRE 2018).

#include <algorithm>
#include <array>
#include <set>

#include <assay/extend/mutation_operator.h>
#include <assay/model.h>
#include "assay/mutation/operators/family.h"

namespace assay::mutation {
namespace {

const std::array<std::string, 6> added_kinds{"any", "duplicate", "relu", "tanh", "sigmoid", "normalisation"};

std::string normalisation_refusal(const SubjectLayer& layer) {
  if (layer.last) return "it gives the network's output; a layer is added between layers";
  const Layer& of = layer.layer;
  return of.batch_axis == 0 && of.batch_multiple == 1 && of.neuron_axes == std::vector<int>{1}
             ? ""
             : "its neurons are not along the axis that a batch normalisation normalises";
}

void add_normalisation(const SubjectLayer& layer, Edit& edit) {
  edit.note(layer, -1, "is followed by a batch normalisation");
  edit.restructure([&layer](GraphBuilder& builder) {
    const std::string name = builder.unused_name(layer.name() + "/normalisation");
    std::vector<ValueId> inputs{layer.layer.value};
    for (const char* part : {"/scale", "/shift", "/mean", "/variance"}) {
      const bool one = std::string(part) == "/scale" || std::string(part) == "/variance";
      const std::vector<float> values(layer.layer.neurons, one ? 1.0F : 0.0F);
      inputs.push_back(builder.constant(builder.unused_name(name + part),
                                        Array::of<float>({layer.layer.neurons}, values)));
    }
    builder.wrap(layer.layer.value, {.name = name,
                                     .op = "BatchNormalization",
                                     .inputs = std::move(inputs),
                                     .outputs = {},
                                     .attributes = {}});
  });
}

// Gives nodes that the original does not have separate weights, so that a copied layer is trained by itself.
Graph untied(const Graph& graph, const Graph& original) {
  std::set<std::string> known;
  for (const Node& node : original.nodes()) known.insert(node.name);
  GraphBuilder builder(graph);
  for (const NodeId n : graph.node_ids()) {
    Node node = graph.node(n);
    if (known.contains(node.name)) continue;
    for (ValueId& id : node.inputs) {
      if (id == no_value || !graph.is_constant(id) || graph.consumers(id).size() < 2) continue;
      id = builder.constant(builder.unused_name(graph.value(id).name + "/copy"), graph.constant(id));
    }
    builder.replace_node(n, std::move(node));
  }
  return builder.build();
}

}  // namespace

OperatorInfo las_operator() {
  const OperatorInfo of_models = lam_operator();
  const ProgramFault others = before_training(of_models);
  const auto refusal = [of_models](const SubjectLayer& layer, const SpecOptions& options) {
    const std::string& kind = options.word("kind", added_kinds);
    return kind == "normalisation" ? normalisation_refusal(layer) : of_models.refusal(layer, options);
  };
  return {
      .name = "las",
      .title = "layer addition before training",
      .summary = "a layer that keeps the shape is inserted after a layer before training",
      .definition =
          "the change of lam made before training (a copy of the layer, or relu, tanh or sigmoid, by the "
          "seed), "
          "or by the seed a batch normalisation of what the layer gives",
      .limits = "at most five mutants per layer; nothing is added after the layer that gives the output",
      .paper = "Ma et al., DeepMutation, ISSRE 2018",
      .level = OperatorInfo::Level::structure,
      .options = {{"kind", "any", "what is inserted: any, duplicate, relu, tanh, sigmoid or normalisation"}},
      .program = {.places =
                      [refusal](const Program&, const Subject& subject, const SpecOptions& options) {
                        return layer_places(
                            subject, [&](const SubjectLayer& layer) { return refusal(layer, options); });
                      },
                  .apply =
                      [others](const ProgramSite& site, Program& program) {
                        const SubjectLayer& layer = site.subject.layer(site.place);
                        const std::string& kind = site.options.text("kind");
                        const bool may = normalisation_refusal(layer).empty();
                        if (kind == "normalisation" ||
                            (kind == "any" && may && site.rng.below(added_kinds.size() - 1) == 0)) {
                          return edit_layer(site, program, add_normalisation);
                        }
                        const ProgramChange change = others.apply(site, program);
                        program.graph = untied(program.graph, site.subject.graph());
                        return change;
                      }}};
}

}  // namespace assay::mutation
