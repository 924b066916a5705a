#include "assay/bounds/element_functions.h"

#include <algorithm>
#include <optional>

#include <assay/extend/operator_traits.h>
#include "assay/engine/layers/activation_chain.h"

namespace assay::bounds {
namespace {

bool is_linear_node(const Graph& graph, const Node* node) {
  const Rule rule = rule_of(graph, *node);
  return rule == Rule::affine || rule == Rule::sum || rule == Rule::movement;
}

// Truths have no interval.
bool is_truth(const Graph& graph, ValueId id) {
  const NodeId by = graph.producer(id);
  return by != no_node && is_kind(graph.node(by).op, OperatorKind::truth);
}

void find_function(const StaticNetwork& network, ValueId root, std::span<const ValueInfo> infos,
                   ElementFunctions& functions) {
  const Graph& graph = network.graph;
  const std::optional<Composite> found = find_composite(graph, infos, root, /*choices=*/true);
  if (!found || functions.at.contains(found->exit) || network.size(root) != network.size(found->exit)) return;
  std::vector<const Node*> nodes;
  std::vector<ValueId> within;
  for (const NodeId n : found->nodes) {
    nodes.push_back(&graph.node(n));
    if (nodes.back()->outputs[0] != found->exit) within.push_back(nodes.back()->outputs[0]);
  }
  if (std::ranges::find(within, network.output) != within.end()) return;
  std::optional<ElementFunction> function = ElementFunction::of(graph, root, nodes);
  const auto linear = [&](const Node* node) { return is_linear_node(graph, node); };
  if (!function || std::ranges::all_of(nodes, linear)) return;
  functions.at.try_emplace(found->exit, FoundFunction{root, std::move(nodes), std::move(*function)});
  functions.within.insert(within.begin(), within.end());
}

}  // namespace

ElementFunctions element_functions(const StaticNetwork& network) {
  const Graph& graph = network.graph;
  std::vector<ValueInfo> infos(graph.values().size());
  for (const ValueId id : graph.value_ids()) infos[index_of(id)].batch_axis = graph.is_constant(id) ? -1 : 0;
  ElementFunctions functions;
  for (const Node& first : graph.nodes())
    for (const ValueId root : first.inputs)
      if (root != no_value && !graph.is_constant(root) && !functions.within.contains(root) &&
          !is_truth(graph, root))
        find_function(network, root, infos, functions);
  return functions;
}

}  // namespace assay::bounds
