#include "assay/engine/constants.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/engine/elements.h"
#include "assay/engine/execute.h"

namespace assay::inline engine {
namespace {

// Nodes whose result may differ from run to run.
bool repeatable(const Node& node) { return node.op != "Dropout"; }

}  // namespace

Constants::Constants(const Graph& graph, std::uint64_t memory_limit) : values_(graph.values().size()) {
  const array::Recording unrecorded(false);
  for (const ValueId id : graph.value_ids()) {
    if (graph.is_constant(id) && !graph.consumers(id).empty()) values_[index_of(id)] = graph.constant(id);
  }
  for (const ValueId id : graph.outputs()) {
    if (graph.is_constant(id) && !has(id)) values_[index_of(id)] = graph.constant(id);
  }
  std::uint64_t budget = memory_limit / 4;
  std::vector<Array> results(values_.size());
  const OnValue no_observer;
  for (const NodeId n : graph.node_ids()) {
    const Node& node = graph.node(n);
    const bool foldable = repeatable(node) && std::ranges::all_of(node.inputs, [&](ValueId id) {
                            return id == no_value || has(id);
                          });
    if (!foldable) continue;
    KernelContext context;
    Executor{graph, values_, context, no_observer}.run(n, results);
    for (const ValueId id : node.outputs) {
      if (id == no_value) continue;
      const Array result = std::move(results[index_of(id)]);
      if (!result.defined() || result.byte_size() > budget) continue;
      budget -= result.byte_size();
      values_[index_of(id)] = result;
    }
  }
}

bool Constants::all_finite() const {
  return std::ranges::all_of(values_, [](const Array& value) {
    return !value.defined() || value.dtype() != DType::float32 || has_finite_elements(value);
  });
}

std::vector<bool> Constants::valid_without(const Graph& graph, std::span<const ValueId> replaced) const {
  std::vector<bool> changed(values_.size(), false), valid(values_.size(), false);
  for (const ValueId id : replaced) changed[index_of(id)] = true;
  for (const Node& node : graph.nodes()) {
    const bool touched =
        std::ranges::any_of(node.inputs, [&](ValueId id) { return id != no_value && changed[index_of(id)]; });
    if (!touched) continue;
    for (const ValueId id : node.outputs) {
      if (id != no_value) changed[index_of(id)] = true;
    }
  }
  for (std::size_t i = 0; i < values_.size(); ++i) valid[i] = values_[i].defined() && !changed[i];
  return valid;
}

std::int64_t Constants::parameters_of(const Graph& graph, ValueId id) const {
  std::set<ValueId> seen;
  std::vector<ValueId> open{id};
  std::int64_t count = 0;
  while (!open.empty()) {
    const ValueId at = open.back();
    open.pop_back();
    if (at == no_value || !seen.insert(at).second) continue;
    if (graph.is_constant(at)) {
      if (graph.constant(at).dtype() == DType::float32) count += graph.constant(at).count();
    } else if (graph.producer(at) != no_node) {
      const auto& inputs = graph.node(graph.producer(at)).inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
  }
  return count;
}

}  // namespace assay::inline engine
