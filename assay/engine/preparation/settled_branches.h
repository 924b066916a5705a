#pragma once

// Branches that the shapes of records decide: exporters ask how many steps there are, or how many axes.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

struct SettledBranches {
  Graph graph;                     // with the nodes of the branches that are taken
  std::vector<std::string> nodes;  // the If nodes that were there
};

// Nothing where no condition follows from shapes alone, or it differs between batches of `rows` records.
// Throws what running the network on sample inputs throws.
std::optional<SettledBranches> with_settled_branches(const Graph& graph, const RecordShapes& known,
                                                     std::span<const std::int64_t> rows,
                                                     std::uint64_t memory_limit);

}  // namespace assay::inline engine
