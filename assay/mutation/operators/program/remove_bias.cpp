// A layer without bias (remove_bias of Humbatova et al., DeepCrime, ISSTA 2021).

#include <assay/extend/mutation_operator.h>
#include <assay/model.h>

namespace assay::mutation {
namespace {

void remove_bias(const SubjectLayer& layer, Edit& edit) {
  edit.note(layer, -1, "has no bias");
  const Graph& graph = edit.subject().graph();
  edit.restructure([&layer, &graph](GraphBuilder& builder) {
    for (const LayerWeights& bias : layer.biases) {
      NodeId node_id = bias.node;
      std::size_t input = bias.input;
      // Keras's recurrent layers have one bias, which a Pad makes two of.
      const ValueId padded = builder.node(node_id).outputs[0];
      if (builder.node(node_id).op == "Pad") node_id = layer.layer.node, input = 3;
      Node node = builder.node(node_id);
      if (node.op == "Add") {
        node.inputs = {node.inputs[1 - input]};
        node.op = "Identity";
      } else {
        node.inputs[input] = no_value;
        while (node.inputs.back() == no_value) node.inputs.pop_back();
      }
      builder.replace_node(node_id, std::move(node));
      if (node_id != bias.node && graph.consumers(padded).size() == 1) builder.remove_node(bias.node);
    }
  });
}

}  // namespace

OperatorInfo remove_bias_operator() {
  return {
      .name = "remove-bias",
      .title = "bias removed",
      .summary = "a layer is trained without its bias",
      .definition = "the layer's linear part adds nothing to the products of its weights",
      .limits =
          "one mutant per layer; before a batch normalisation, which takes means away, it changes nothing",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (remove_bias)",
      .level = OperatorInfo::Level::structure,
      .program = {.places =
                      [](const Program&, const Subject& subject, const SpecOptions&) {
                        return layer_places(subject, [](const SubjectLayer& layer) -> std::string {
                          return layer.biases.empty() ? "it has no bias" : "";
                        });
                      },
                  .apply = [](const ProgramSite& site,
                              Program& program) { return edit_layer(site, program, remove_bias); }}};
}

}  // namespace assay::mutation
