#pragma once

// What values of a network can be at all, by interval arithmetic over its nodes (Moore, 1966): no input is
// looked at.

#include <limits>

#include <assay/graph.h>

namespace assay {

struct Bounds {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

// Of every element of the value; without limits where a node is not known to have any. Linear in the nodes.
Bounds bounds_of(const Graph& graph, ValueId value);

}  // namespace assay
