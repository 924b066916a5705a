#include "assay/engine/preparation/plan.h"

#include <algorithm>

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
    if (id == no_value || available[static_cast<std::size_t>(id)]) continue;
    const int producer = graph.producer(id);
    if (producer < 0) {
      fail(Fault::usage, "the network '{}' cannot run: its input '{}' was not given", graph.name(),
           graph.value(id).name);
    }
    if (needed[static_cast<std::size_t>(producer)]) continue;
    needed[static_cast<std::size_t>(producer)] = true;
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
  std::vector<int> last_step(graph.values().size(), -1);
  const auto touch = [&](ValueId id) {
    if (id != no_value && !available[static_cast<std::size_t>(id)]) {
      last_step[static_cast<std::size_t>(id)] = static_cast<int>(plan.nodes.size());
    }
  };
  for (std::size_t n = 0; n < needed.size(); ++n) {
    if (!needed[n]) continue;
    std::ranges::for_each(graph.nodes()[n].inputs, touch);
    std::ranges::for_each(graph.nodes()[n].outputs, touch);
    plan.nodes.push_back(static_cast<int>(n));
  }
  for (const ValueId id : wanted) last_step[static_cast<std::size_t>(id)] = -1;
  plan.release.resize(plan.nodes.size());
  for (std::size_t id = 0; id < last_step.size(); ++id) {
    if (last_step[id] >= 0)
      plan.release[static_cast<std::size_t>(last_step[id])].push_back(static_cast<ValueId>(id));
  }
  return plan;
}

}  // namespace assay::inline engine
