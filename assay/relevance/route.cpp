#include "assay/relevance/route.h"

#include <assay/array_math.h>

#include <algorithm>

#include "assay/model/backwards.h"

namespace assay::relevance {
namespace {

// Marks the wanted values and all that are computed from them.
std::vector<bool> downstream(const Graph& graph, std::span<const ValueId> wanted) {
  std::vector<bool> marked(graph.values().size(), wanted.empty());
  for (const ValueId id : wanted) marked[index_of(id)] = true;
  for (const Node& node : graph.nodes()) {
    const bool reads =
        std::ranges::any_of(node.inputs, [&](ValueId id) { return id != no_value && marked[index_of(id)]; });
    for (const ValueId id : node.outputs) {
      if (reads && id != no_value) marked[index_of(id)] = true;
    }
  }
  return marked;
}

}  // namespace

Route::Route(const Dependence& dependence, ValueId decision, std::span<const ValueId> wanted,
             const FindReceivers& find)
    : graph_(&dependence.graph()),
      reached_(graph_->values().size(), false),
      receivers_(graph_->nodes().size()) {
  const std::vector<bool> leads = downstream(*graph_, wanted);
  reached_[index_of(decision)] = true;
  for (const NodeId n : backwards(graph_->node_ids())) {
    const Node& node = graph_->node(n);
    const bool arrives =
        std::ranges::any_of(node.outputs, [&](ValueId id) { return id != no_value && reaches(id); });
    const bool needed =
        std::ranges::any_of(node.inputs, [&](ValueId id) { return id != no_value && leads[index_of(id)]; });
    if (!arrives || !needed || dependence.carrying_inputs(node).empty()) continue;
    auto& positions = receivers_[index_of(n)];
    positions = find(n);
    for (const std::size_t i : positions) reached_[index_of(node.inputs[i])] = true;
  }
}

std::vector<NodeId> Route::nodes_to(std::span<const ValueId> wanted) const {
  std::vector<bool> leads(graph_->values().size(), false);
  for (const ValueId id : wanted) leads[index_of(id)] = true;
  std::vector<NodeId> nodes;
  for (const NodeId n : graph_->node_ids()) {
    const Node& node = graph_->node(n);
    const bool passes =
        std::ranges::any_of(receivers(n), [&](std::size_t i) { return leads[index_of(node.inputs[i])]; });
    if (!passes) continue;
    nodes.push_back(n);
    for (const ValueId id : node.outputs) {
      if (id != no_value) leads[index_of(id)] = true;
    }
  }
  return nodes;
}

void Flow::add(ValueId id, const Array& relevance) {
  Array& sum = values_[index_of(id)];
  sum = sum.defined() ? sum + relevance : relevance;
}

std::vector<Array> Flow::of_outputs(const Node& node) const {
  std::vector<Array> relevance;
  for (const ValueId id : node.outputs) relevance.push_back(id == no_value ? Array() : at(id));
  return relevance;
}

}  // namespace assay::relevance
