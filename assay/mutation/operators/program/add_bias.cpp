// A bias where there is none (add_bias of Humbatova et al., DeepCrime, ISSTA 2021).

#include <assay/extend/mutation_operator.h>
#include <assay/model.h>

namespace assay::mutation {
namespace {

// As many numbers as the bias has: one for each neuron, in recurrent cells two for each gate of each.
Shape bias_shape(const Graph& graph, const SubjectLayer& layer) {
  if (layer.layer.kind != OperatorKind::recurrent) {
    const bool weights_in_front = graph.node(layer.layer.node).inputs[0] != layer.input;
    return weights_in_front ? Shape{layer.layer.neurons, 1} : Shape{layer.layer.neurons};
  }
  const Shape& kernel = graph.constant(layer.weights.front().constant).shape();
  return {kernel[0], 2 * kernel[1]};
}

std::string add_bias_refusal(const Graph& graph, const SubjectLayer& layer) {
  const Node& node = graph.node(layer.layer.node);
  const std::size_t input = layer.layer.kind == OperatorKind::recurrent ? 3 : 2;
  const bool has = !layer.biases.empty() ||
                   (node.op != "MatMul" && node.inputs.size() > input && node.inputs[input] != no_value);
  if (has) return "it has a bias";
  const bool known = node.op == "MatMul" || node.op == "Gemm" ||
                     layer.layer.kind == OperatorKind::convolution ||
                     layer.layer.kind == OperatorKind::recurrent;
  const bool recurrent = layer.layer.kind == OperatorKind::recurrent;
  return known && !layer.weights.empty() && (recurrent || layer.layer.neuron_axes.size() == 1)
             ? ""
             : node.op + " takes no bias";
}

void add_bias(const SubjectLayer& layer, Edit& edit) {
  edit.note(layer, -1, "has a bias");
  const Graph& graph = edit.subject().graph();
  edit.restructure([&layer, &graph](GraphBuilder& builder) {
    Node node = builder.node(layer.layer.node);
    const Shape shape = bias_shape(graph, layer);
    const std::string name = builder.unused_name(layer.name() + "/bias");
    const std::vector<float> zeros(element_count(shape), 0.0F);
    const ValueId bias = builder.constant(name, Array::of<float>(shape, zeros));
    if (node.op == "MatMul") {
      const ValueId product = node.outputs[0];
      builder.wrap(product, {.name = builder.unused_name(layer.name() + "/add"),
                             .op = "Add",
                             .inputs = {product, bias},
                             .outputs = {},
                             .attributes = {}});
      return;
    }
    const std::size_t input = layer.layer.kind == OperatorKind::recurrent ? 3 : 2;
    if (node.inputs.size() <= input) node.inputs.resize(input + 1, no_value);
    node.inputs[input] = bias;
    builder.replace_node(layer.layer.node, std::move(node));
  });
}

}  // namespace

OperatorInfo add_bias_operator() {
  return {
      .name = "add-bias",
      .title = "bias added",
      .summary = "a layer without bias is trained with one",
      .definition = "the layer's linear part adds one trained number for each neuron",
      .limits =
          "one mutant per layer; before a batch normalisation, which takes means away, it changes nothing",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (add_bias)",
      .level = OperatorInfo::Level::structure,
      .program = {.places =
                      [](const Program&, const Subject& subject, const SpecOptions&) {
                        return layer_places(subject, [&](const SubjectLayer& layer) {
                          return add_bias_refusal(subject.graph(), layer);
                        });
                      },
                  .apply = [](const ProgramSite& site,
                              Program& program) { return edit_layer(site, program, add_bias); }}};
}

}  // namespace assay::mutation
