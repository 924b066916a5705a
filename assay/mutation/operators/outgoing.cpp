#include "assay/mutation/operators/outgoing.h"

#include <algorithm>
#include <set>

#include <assay/extend/operator_traits.h>

namespace assay::mutation {
namespace {

// Whether the node computes each neuron of its output from the same neuron of `value` alone.
bool works_by_neuron(const Subject& subject, const SubjectLayer& layer, const Node& node, ValueId value) {
  if (node.outputs.size() != 1 || node.inputs[0] != value) return false;
  const Shape &from = subject.shape(value), &to = subject.shape(node.outputs[0]);
  if (!has_trait(node.op, Trait::by_channel) || from.size() != to.size()) return false;
  return std::ranges::all_of(layer.layer.neuron_axes, [&](int axis) { return from[axis] == to[axis]; });
}

}  // namespace

std::vector<ValueId> outgoing_values(const Subject& subject, const SubjectLayer& layer) {
  const Graph& graph = subject.graph();
  // By producer: the order of computation.
  std::set<std::pair<NodeId, ValueId>> open{{no_node, layer.layer.value}};
  std::vector<ValueId> ends;
  while (!open.empty()) {
    const ValueId value = open.begin()->second;
    open.erase(open.begin());
    bool mixed = std::ranges::find(graph.outputs(), value) != graph.outputs().end();
    for (const NodeId n : graph.consumers(value)) {
      const Node& reader = graph.node(n);
      if (works_by_neuron(subject, layer, reader, value)) {
        open.emplace(n, reader.outputs[0]);
      } else {
        mixed = true;
      }
    }
    if (mixed) ends.push_back(value);
  }
  return ends;
}

}  // namespace assay::mutation
