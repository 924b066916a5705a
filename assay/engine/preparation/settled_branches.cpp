#include "assay/engine/preparation/settled_branches.h"

#include <assay/array_math.h>

#include <algorithm>
#include <map>
#include <set>

#include <assay/model.h>
#include "assay/engine/preparation/free_batch.h"
#include "assay/model/bodies.h"

namespace assay::inline engine {
namespace {

std::vector<const Node*> branching_nodes(const Graph& graph) {
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes()) {
    if (node.op == "If") nodes.push_back(&node);
  }
  return nodes;
}

bool only_asks_for_shape(const Node& node) { return node.op == "Shape" || node.op == "Size"; }

// By value: whether it follows from what inputs hold, of records or for all of them.
std::vector<bool> told_by_contents(const Graph& graph) {
  std::vector<bool> told(graph.values().size(), false);
  const auto at = [&](ValueId id) { return told[index_of(id)]; };
  for (const ValueId id : graph.inputs()) told[index_of(id)] = true;
  for (const Node& node : graph.nodes()) {
    const bool reads = std::ranges::any_of(node.inputs, [&](ValueId id) { return id != no_value && at(id); });
    for (const ValueId id : node.outputs) {
      if (id != no_value) told[index_of(id)] = reads && !only_asks_for_shape(node);
    }
  }
  return told;
}

// Those whose condition depends on shapes, and on nothing that inputs hold.
std::vector<const Node*> decided_by_shapes(const Graph& graph, const Constants& constants,
                                           const RecordShapes& known, std::int64_t rows) {
  const SampleShapes seen = sample_shapes(graph, constants, tiny_batch(graph, known, rows));
  const std::vector<ValueInfo> infos = compare_sample_shapes(graph, seen, seen);
  const std::vector<bool> told = told_by_contents(graph);
  std::vector<const Node*> nodes = branching_nodes(graph);
  std::erase_if(nodes, [&](const Node* node) {
    const auto condition = index_of(node->inputs[0]);
    return told[condition] || !infos[condition].computed || infos[condition].shaped_by_content;
  });
  return nodes;
}

bool is_true(const Array& condition) {
  return condition.count() == 1 && condition.to(DType::float64).item<double>() != 0;
}

// The conditions that are the same in all batches.
std::map<std::string, bool> conditions_of(const Graph& graph, const std::vector<const Node*>& nodes,
                                          const RecordShapes& known, std::span<const std::int64_t> rows,
                                          std::uint64_t memory_limit) {
  GraphBuilder edit(graph);
  std::vector<ValueId> wanted;
  for (const Node* node : nodes) {
    if (std::ranges::find(wanted, node->inputs[0]) == wanted.end()) wanted.push_back(node->inputs[0]);
  }
  edit.set_outputs(wanted);
  const Graph part = edit.build();
  const Constants constants(part, memory_limit);
  std::map<std::string, bool> found;
  std::set<std::string> differing;
  for (const std::int64_t count : rows) {
    const Tensors values = run_all(part, constants, tiny_batch(graph, known, count));
    for (const Node* node : nodes) {
      const bool now = is_true(values.at(node->inputs[0]));
      if (found.emplace(node->name, now).first->second != now) differing.insert(node->name);
    }
  }
  for (const std::string& name : differing) found.erase(name);
  return found;
}

}  // namespace

std::optional<SettledBranches> with_settled_branches(const Graph& graph, const RecordShapes& known,
                                                     std::span<const std::int64_t> rows,
                                                     std::uint64_t memory_limit) {
  SettledBranches settled{graph, {}};
  while (!branching_nodes(settled.graph).empty()) {
    const Constants constants(settled.graph, memory_limit);
    const std::vector<const Node*> nodes = decided_by_shapes(settled.graph, constants, known, rows.back());
    if (nodes.empty()) break;
    const auto conditions = conditions_of(settled.graph, nodes, known, rows, memory_limit);
    if (conditions.empty()) break;
    for (const auto& [name, taken] : conditions) settled.nodes.push_back(name);
    settled.graph = with_conditions(settled.graph, conditions);
  }
  return settled.nodes.empty() ? std::nullopt : std::optional(std::move(settled));
}

}  // namespace assay::inline engine
