#pragma once

// The way from the decision back to the values requested.

#include <functional>
#include <span>
#include <vector>

#include <assay/tensor.h>
#include "assay/relevance/dependence.h"

namespace assay::relevance {

// Input positions that receive something, per node of the graph; decided once.
using Receivers = std::vector<std::vector<std::size_t>>;

// Positions for one node. May throw for nodes that have no rule.
using FindReceivers = std::function<std::vector<std::size_t>(NodeId node)>;

class Route {
 public:
  // Walks from `decision` towards the inputs, asking `find` for every node reached that leads to one of
  // `wanted` (all reached nodes when that is empty).
  Route(const Dependence& dependence, ValueId decision, std::span<const ValueId> wanted,
        const FindReceivers& find);

  bool reaches(ValueId id) const { return reached_[index_of(id)]; }
  const std::vector<std::size_t>& receivers(NodeId node) const { return receivers_[index_of(node)]; }
  // Nodes to pass for `wanted`, in the graph's order.
  std::vector<NodeId> nodes_to(std::span<const ValueId> wanted) const;

 private:
  const Graph* graph_;
  std::vector<bool> reached_;
  Receivers receivers_;
};

// Relevance per value while it travels; adds up where a value has several readers.
class Flow {
 public:
  explicit Flow(const Graph& graph) : values_(graph.values().size()) {}
  const Array& at(ValueId id) const { return values_[index_of(id)]; }
  void add(ValueId id, const Array& relevance);
  void drop(ValueId id) { values_[index_of(id)] = Array(); }
  // Relevance of the node's outputs, undefined where none arrived.
  std::vector<Array> of_outputs(const Node& node) const;

 private:
  std::vector<Array> values_;
};

}  // namespace assay::relevance
