#pragma once

// Networks of sequences that decide by one position: scores of the last token, the class token of a
// classifier. Nodes that compute a position from the same position alone, such as products with weights,
// compute all other positions in vain. Here what is picked is picked before them.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

struct EarlyPicks {
  Graph graph;                   // values have the numbers they had, further ones are appended
  std::vector<ValueInfo> infos;  // of all of them
  // What is picked no longer follows from these values: they must neither be replaced nor differentiated.
  std::set<ValueId> passed;
  std::map<std::string, std::string> extra;  // nodes that were put in, by name, and what they are for
  std::map<std::string, double>
      instead;  // those of them that do what they are for, at this share of positions
};

// Nothing where no product of matrices becomes smaller. `graph`: static (static_graph.h).
std::optional<EarlyPicks> pick_early(const Graph& graph, std::span<const ValueInfo> infos);

}  // namespace assay::inline engine
