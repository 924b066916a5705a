#include "assay/engine/preparation/plan.h"

#include <algorithm>
#include <optional>

#include <assay/error.h>

namespace assay::inline engine {
namespace {

// Marks the nodes that the values in `open` depend on, walking back until available values.
std::vector<bool> needed_nodes(const Graph& graph, const std::vector<bool>& available,
                               std::vector<ValueId> open) {
  std::vector<bool> needed(graph.nodes().size(), false);
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (id == no_value || available[index_of(id)]) continue;
    const NodeId producer = graph.producer(id);
    if (producer == no_node) {
      fail(Fault::usage, "the network '{}' cannot run: its input '{}' was not given", graph.name(),
           graph.value(id).name);
    }
    if (needed[index_of(producer)]) continue;
    needed[index_of(producer)] = true;
    const auto& inputs = graph.node(producer).inputs;
    open.insert(open.end(), inputs.begin(), inputs.end());
  }
  return needed;
}

}  // namespace

Plan make_plan(const Graph& graph, const std::vector<bool>& available, std::span<const ValueId> wanted,
               std::span<const ValueId> visited) {
  std::vector<ValueId> targets(wanted.begin(), wanted.end());
  targets.insert(targets.end(), visited.begin(), visited.end());
  const std::vector<bool> needed = needed_nodes(graph, available, std::move(targets));
  Plan plan;
  std::vector<std::optional<std::size_t>> last_step(graph.values().size());
  const auto touch = [&](ValueId id) {
    if (id != no_value && !available[index_of(id)]) last_step[index_of(id)] = plan.nodes.size();
  };
  for (const NodeId n : graph.node_ids()) {
    if (!needed[index_of(n)]) continue;
    std::ranges::for_each(graph.node(n).inputs, touch);
    std::ranges::for_each(graph.node(n).outputs, touch);
    plan.nodes.push_back(n);
  }
  for (const ValueId id : wanted) last_step[index_of(id)].reset();
  plan.release.resize(plan.nodes.size());
  for (const ValueId id : graph.value_ids()) {
    if (const auto step = last_step[index_of(id)]) plan.release[*step].push_back(id);
  }
  return plan;
}

}  // namespace assay::inline engine
