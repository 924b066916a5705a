#include "assay/engine/preparation/part.h"

#include <assay/model.h>
#include "assay/model/element_type.h"

namespace assay::inline engine {

Part::Part(const Graph& graph, std::span<const NodeId> nodes, const std::map<ValueId, Shape>& given,
           std::span<const ValueId> wanted, SessionOptions options) {
  GraphBuilder part(graph.name());
  const std::vector<DType> types = element_types(graph);
  std::map<ValueId, ValueId> own;
  for (const auto& [id, shape] : given) {
    own[id] = part.input(graph.value(id).name, types[index_of(id)], shape);
    given_.emplace(id, own[id]);
  }
  for (const NodeId n : nodes) {
    Node node = graph.node(n);
    for (ValueId& id : node.inputs) {
      if (id == no_value) continue;
      if (!own.contains(id) && graph.is_constant(id))
        own[id] = part.constant(graph.value(id).name, graph.constant(id));
      id = own.at(id);
    }
    for (ValueId& id : node.outputs) {
      if (id != no_value) id = own[id] = part.value(graph.value(id).name);
    }
    part.node(std::move(node));
  }
  for (const ValueId id : wanted) {
    part.output(own.at(id));
    wanted_.emplace(id, own.at(id));
  }
  options.record_shape.clear();
  options.record_shapes.clear();
  session_ = std::make_unique<const Session>(part.build(), std::move(options));
}

Tensors Part::run(const Tensors& given) const {
  Tensors own;
  for (const auto& [id, here] : given_) own.emplace(here, given.at(id));
  std::vector<ValueId> asked;
  for (const auto& [id, here] : wanted_) asked.push_back(here);
  const Tensors found = session_->run(own, asked);
  Tensors results;
  for (const auto& [id, here] : wanted_) results.emplace(id, found.at(here));
  return results;
}

}  // namespace assay::inline engine
