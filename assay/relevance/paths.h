#pragma once

// Networks with branches and loops that the records decide.

#include <functional>
#include <memory>

#include <assay/relevance.h>

namespace assay::relevance {

// Whether what the node does depends on more than which operator it is: a branch, a loop or a scan. Scans of
// operator set 8, of each record of a batch on its own, stay as they are.
bool chooses_path(const Node& node);
// Whether the graph has such nodes.
bool chooses_paths(const Graph& graph);

using MakeMethod = std::function<std::unique_ptr<Attribution>(const Session&, const AttributionOptions&)>;

// What `make` gives for the network that is left once branches are those taken, and loops as many rounds as
// were run, for the batch. Such networks are made when a batch takes their path for the first time.
std::unique_ptr<Attribution> of_path_taken(const Session& session, const AttributionOptions& options,
                                           MakeMethod make);

}  // namespace assay::relevance
