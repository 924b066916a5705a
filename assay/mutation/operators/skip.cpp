// Residual blocks that pass their input on and add nothing to it.

#include <algorithm>
#include <vector>

#include <assay/extend/mutation_operator.h>
#include <assay/extend/operator_traits.h>

namespace assay::mutation {
namespace {

bool depends_on(const Graph& graph, ValueId value, ValueId on) {
  std::vector<ValueId> pending{value};
  std::vector<bool> seen(graph.values().size(), false);
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    if (id == on) return true;
    if (id == no_value || seen[index_of(id)]) continue;
    seen[index_of(id)] = true;
    if (const NodeId n = graph.producer(id); n != no_node)
      for (const ValueId input : graph.node(n).inputs) pending.push_back(input);
  }
  return false;
}

// The only node that reads the value, after nodes that only give it another shape. nullptr for several.
const Node* reader_of(const Graph& graph, ValueId& value) {
  while (graph.consumers(value).size() == 1) {
    const Node& node = graph.node(graph.consumers(value)[0]);
    if (node.inputs[0] != value || !(has_trait(node.op, Trait::reshapes) || is_pass_through(node.op)))
      return &node;
    value = node.outputs[0];
  }
  return nullptr;
}

// The layer's value is added, and only that, to what its block begins with.
bool closes_block(const Subject& subject, const SubjectLayer& layer) {
  const Graph& graph = subject.graph();
  ValueId value = layer.layer.value;
  const Node* const reader = reader_of(graph, value);
  if (layer.has_activation() || reader == nullptr || reader->op != "Add") return false;
  const Node& sum = *reader;
  const ValueId other = sum.inputs[0] == value ? sum.inputs[1] : sum.inputs[0];
  return other != value && subject.shape(other) == subject.shape(value) &&
         depends_on(graph, layer.input, other);
}

void zero_all(const MutationSite& target, Edit& edit, const std::vector<LayerWeights>& all) {
  for (const LayerWeights& weights : all)
    for (std::int64_t i = 0; i < weights.count; ++i) edit.set_weight(target.layer, weights, i, 0);
}

}  // namespace

OperatorInfo skip_operator() {
  return {
      .name = "skip",
      .title = "block skipped",
      .summary = "a residual block adds nothing, as if it were not there",
      .definition =
          "where the value of a layer without activation function is added to what the layer's block begins "
          "with (x + f(x)), weights and biases of the layer become 0, so that the block passes x on",
      .limits = "one mutant per block; layers at the end of no such block give none",
      .paper =
          "Veit et al., Residual Networks Behave Like Ensembles of Relatively Shallow Networks, NeurIPS 2016",
      .level = OperatorInfo::Level::layer,
      .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
      .apply =
          [](const MutationSite& target, Edit& edit) {
            if (!closes_block(edit.subject(), target.layer)) return;
            zero_all(target, edit, target.layer.weights);
            zero_all(target, edit, target.layer.biases);
          }};
}

}  // namespace assay::mutation
