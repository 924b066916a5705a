#include "assay/engine/preparation/lens.h"

#include <algorithm>

#include <assay/error.h>
#include "assay/model/backwards.h"

namespace assay::inline engine {
namespace {

using Marks = std::vector<bool>;  // of values

bool reads_marked(const Node& node, const Marks& marks) {
  return std::ranges::any_of(node.inputs, [&](ValueId id) { return id != no_value && marks[index_of(id)]; });
}

}  // namespace

std::vector<bool> computed_from_any(const Graph& graph, std::span<const ValueId> values, ValueId cut) {
  Marks marks(graph.values().size());
  for (const ValueId id : values) marks[index_of(id)] = true;
  for (const Node& node : graph.nodes()) {
    if (node.op == "Shape" || node.op == "Size" || !reads_marked(node, marks)) continue;
    for (const ValueId id : node.outputs)
      if (id != no_value && id != cut) marks[index_of(id)] = true;
  }
  return marks;
}

namespace {

// What the value is computed from, itself included.
Marks needed_for(const Graph& graph, ValueId value) {
  Marks marks(graph.values().size());
  marks[index_of(value)] = true;
  for (const Node& node : backwards(graph.nodes())) {
    const bool wanted =
        std::ranges::any_of(node.outputs, [&](ValueId id) { return id != no_value && marks[index_of(id)]; });
    if (!wanted) continue;
    for (const ValueId id : node.inputs)
      if (id != no_value) marks[index_of(id)] = true;
  }
  return marks;
}

// Past the late layer, nothing that another layer computes may be read.
void require_alone(const Session& session, const Layer& late) {
  std::vector<ValueId> others;
  for (const Layer& layer : session.layers())
    if (layer.value != late.value && (layer.carries_weights || layer.parameters > 0))
      others.push_back(layer.value);
  const Graph& graph = session.graph();
  const Marks after = computed_from_any(graph, std::span(&late.value, 1), no_value);
  std::erase_if(others, [&](ValueId id) { return after[index_of(id)]; });
  if (after[index_of(session.logits())] &&
      !computed_from_any(graph, others, late.value)[index_of(session.logits())])
    return;
  fail(Fault::usage,
       "lens: the decision does not come from layer '{}' alone; name the layer that all of it goes through, "
       "such as the last sum of a residual stream",
       late.name);
}

}  // namespace

ValueId decision_from(const Session& session, NamedNodes& nodes, ValueId early, const Layer& late) {
  require_alone(session, late);
  const Graph& graph = session.graph();
  const Marks after = computed_from_any(graph, std::span(&late.value, 1), no_value),
              needed = needed_for(graph, session.logits());
  std::vector<ValueId> instead(graph.value_ids().begin(), graph.value_ids().end());
  instead[index_of(late.value)] = early;
  for (const Node& node : graph.nodes()) {
    if (!reads_marked(node, after)) continue;
    const auto wanted = [&](ValueId id) {
      return id != no_value && after[index_of(id)] && needed[index_of(id)] && id != late.value;
    };
    if (std::ranges::none_of(node.outputs, wanted)) continue;
    Node again = node;
    again.name = nodes.name(node.name);
    for (ValueId& id : again.inputs)
      if (id != no_value) id = instead[index_of(id)];
    for (ValueId& id : again.outputs)
      if (id != no_value) id = instead[index_of(id)] = nodes.edit().value(nodes.name(graph.value(id).name));
    nodes.edit().node(std::move(again));
  }
  return instead[index_of(session.logits())];
}

std::vector<Layer> stream_before(const Session& session, const Layer& late) {
  const Marks needed = needed_for(session.graph(), late.value);
  std::vector<Layer> stream;
  for (const Layer& layer : session.layers())
    if (layer.kind == late.kind && layer.shape == late.shape && needed[index_of(layer.value)])
      stream.push_back(layer);
  return stream;
}

}  // namespace assay::inline engine
