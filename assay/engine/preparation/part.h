#pragma once

// Some nodes of a graph, run with the libtorch kernels: what an edit changes, without the rest of the network
// and without preparing a session for it.

#include <span>
#include <vector>

#include <assay/tensor.h>

namespace assay {

class Part {
 public:
  // `nodes`: indices into graph.nodes(), ascending. Takes the constants that they read; the graph may go
  // afterwards.
  Part(const Graph& graph, std::span<const int> nodes);

  // `given` holds every value that the nodes read from outside, on one device. No gradients are recorded.
  // Throws Error{model} naming a node that cannot be computed.
  Tensors run(const Tensors& given, std::span<const ValueId> wanted) const;

 private:
  std::vector<Node> nodes_;
  Tensors constants_;
};

}  // namespace assay
