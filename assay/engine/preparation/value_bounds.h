#pragma once

// Bounds of the values of a network, by interval arithmetic over its nodes (Moore, 1966), independent of
// inputs.

#include <limits>
#include <vector>

#include <assay/graph.h>

namespace assay::inline engine {

struct Bounds {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

// Of all values of a network, each of every element; without limits where a node is not known to have any.
// Linear in the nodes.
class ValueBounds {
 public:
  explicit ValueBounds(const Graph& graph);
  Bounds of(ValueId id) const { return id == no_value ? Bounds{} : bounds_[index_of(id)]; }

 private:
  std::vector<Bounds> bounds_;
};

}  // namespace assay::inline engine
