#pragma once

// The nodes that have to run to get some values from others, and when each value may be released.

#include <span>
#include <vector>

#include <assay/graph.h>

namespace assay::inline engine {

struct Plan {
  std::vector<NodeId> nodes;                  // in order
  std::vector<std::vector<ValueId>> release;  // per entry of `nodes`: values without readers after it
};

// The nodes needed for `wanted` and `visited` when the values marked in `available` (one mark per graph
// value) are there already. Wanted values and available ones are never released; visited ones are computed,
// and released like others. Throws Error{usage} when a graph input that is needed is not available. O(nodes +
// values).
Plan make_plan(const Graph& graph, const std::vector<bool>& available, std::span<const ValueId> wanted,
               std::span<const ValueId> visited = {});

}  // namespace assay::inline engine
