#pragma once

// Element types of all values of a graph, without running it.

#include <vector>

#include <assay/graph.h>

namespace assay {

// One type per value. Inputs and constants state theirs, and an operator's outputs follow from its inputs and
// attributes. O(nodes).
std::vector<DType> element_types(const Graph& graph);

}  // namespace assay
