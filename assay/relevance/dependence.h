#pragma once

// Which values relevance can travel through, decided from the graph alone.

#include <vector>

#include <assay/graph.h>

namespace assay::relevance {

class Dependence {
 public:
  explicit Dependence(const Graph& graph);

  const Graph& graph() const { return *graph_; }
  // The value is a function of the network's inputs through operators that relevance can follow: not through
  // a shape, a comparison, an arg-max or a remainder of whole numbers. Everything else is a constant to
  // relevance, even where it varies by batch.
  bool carries(ValueId id) const { return id != no_value && carries_[index_of(id)]; }
  // The value depends on no network input at all, not even on the input's shape.
  bool is_static(ValueId id) const { return id != no_value && static_[index_of(id)]; }
  // Positions of the node's inputs that carry.
  std::vector<std::size_t> carrying_inputs(const Node& node) const;
  // How much the value looks like a gate that scales others: 2 when it comes out of a softmax, a sigmoid, an
  // error function or (the deviation of a normalisation) a square root or reciprocal, 1 out of a tanh or
  // clip, else 0. Scaling, shifting and moving data in between do not matter.
  int gate_strength(ValueId id) const;

 private:
  const Graph* graph_;
  std::vector<bool> carries_, static_;
};

}  // namespace assay::relevance
