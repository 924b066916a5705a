#pragma once

// The faster CPU back end: runs stretches of a graph with oneDNN primitives in blocked layouts, with batch
// normalisation folded, activations fused, and a batch cut into chunks that stay in cache, one chunk a
// thread. Same results as the libtorch kernels within float rounding, and the same for every number of
// threads.

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <assay/layer.h>
#include <assay/tensor.h>

namespace assay::onednn {

// Shape of a value for a batch of one record; empty when unknown.
using ShapeOf = std::function<const Shape&(ValueId)>;

// True when the back end can run the node on this CPU: float32, batch on axis 0, constant weights, attributes
// it knows.
bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of);

// A layer to be reduced to neuron activations while it is in cache: channel means or maxima.
struct Tap {
  ValueId value = no_value;
  Reduction reduction = Reduction::mean;  // not every_position
};

// A stretch of nodes that are consecutive in the graph's order, compiled for this CPU. Immutable; may be run
// from one thread at a time.
class Segment {
 public:
  // REQUIRES: supports() holds for every node. `keep`: values to be returned whole.
  Segment(const Graph& graph, std::span<const int> nodes, const ShapeOf& shape_of,
          std::span<const ValueId> keep, std::span<const Tap> taps, int threads);
  ~Segment();
  Segment(Segment&&) noexcept;

  // Values from outside that the nodes read (without constants), and those run() returns.
  std::span<const ValueId> inputs() const;
  std::span<const ValueId> outputs() const;

  // `given` holds every input, [n, ...] float32 on the CPU. Adds the outputs to `results`. `tapped` holds,
  // per tap, a matrix [n, channels] to be filled.
  void run(const Tensors& given, Tensors& results, std::span<float* const> tapped) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // never shared: State is known to segment.cpp only
};

}  // namespace assay::onednn
