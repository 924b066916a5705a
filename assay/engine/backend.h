#pragma once

// Back ends: each compiles segments of a static graph (static_graph.h) into separate programs. Adding one of
// the processor: a class like its siblings and a line in backend.cpp.

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <assay/layer.h>
#include <assay/tensor.h>

namespace assay::inline engine {

// Shape of a value for a batch of one record; empty when unknown.
using ShapeOf = std::function<const Shape&(ValueId)>;

// A layer to reduce to neuron activations while it is in cache: over the positions of each neuron, or over
// all neurons and positions.
struct ReducedValue {
  ValueId value = no_value;
  Reduction reduction = Reduction::mean;  // not every_position
  std::size_t axis = 1;                   // of neurons: 1 or the last
  bool whole = false;
  friend bool operator==(const ReducedValue&, const ReducedValue&) = default;
  // Numbers per record; `shape` is that of the value.
  std::int64_t columns(const Shape& shape) const { return whole ? 1 : shape[axis]; }
};

// Gradients that carry epsilon relevance over values instead (relevance/compiled.h): equal maxima share or
// the first takes all, the gradient of a value z is multiplied by z / (z + epsilon sgn z), and functions f
// pass f(x) / x.
struct Redistribution {
  struct Stabilised {
    ValueId value = no_value;
    double epsilon = 0;
  };
  std::vector<Stabilised> stabilised = {};
  std::vector<ValueId> by_ratio = {};  // results of functions with f(0) = 0
  bool maxima_share = true;
};

// Nodes that follow each other in the graph's order, all of them supported.
struct SegmentRequest {
  const Graph* graph = nullptr;  // must outlive the segment
  std::vector<NodeId> nodes;
  ShapeOf shape_of;
  std::vector<ValueId> keep;            // values to be returned whole
  std::vector<ReducedValue> taps;       // of values that the nodes compute
  std::vector<ValueId> trainable = {};  // constants whose values come with every run, as inputs do
  std::optional<Redistribution> redistribution = {};  // of back ends that differentiate
  int threads = 1;
};

// Immutable; may be run from one thread at a time.
class Segment {
 public:
  virtual ~Segment() = default;

  // Values from outside that the nodes read (of constants only the trainable ones), and the values that run()
  // returns.
  virtual std::span<const ValueId> inputs() const = 0;
  virtual std::span<const ValueId> outputs() const = 0;

  // `given` holds every input, float32 on the CPU: [n, ...], or a constant. Adds the outputs to `results`.
  // `tapped` holds, per tap, a matrix [n, columns] to be filled.
  virtual void run(const Tensors& given, Tensors& results, std::span<float* const> tapped) const = 0;

  // Gradients of a scalar with respect to `wanted` inputs, in their order, given its gradient with respect to
  // each output (an undefined array means zeros). Only for back ends that differentiate.
  virtual std::vector<Array> gradients(const Tensors& given, std::span<const Array> of_outputs,
                                       std::span<const ValueId> wanted) const;

  // Whether gradients() of an objective is implemented.
  virtual bool takes_objectives() const { return true; }
  // Forward and backward in one call, for a segment whose outputs are what the objective reads. One entry per
  // number; with respect to constants, of the sum over all records. Only for back ends that differentiate.
  virtual RecordGradients gradients(const Tensors& given, const RecordObjective& objective,
                                    std::span<const ValueId> wanted) const;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // True when it can run the node on its device: float32, batch on axis 0, constant weights, attributes
  // it knows.
  virtual bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of) const = 0;
  // Expected nanoseconds of one thread per record, from shapes and instruction set alone. REQUIRES
  // supports().
  virtual double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) const = 0;
  // So many records together cost as much as fewer of them.
  virtual std::int64_t records_together() const { return 1; }
  // Bytes that a thread keeps for the node's results where gradients go back through it.
  virtual double kept_bytes(const Node& node, const ShapeOf& shape_of) const = 0;
  // Whether the constant that the node reads as this input can be trained. REQUIRES supports().
  virtual bool trains(const Graph& graph, const Node& node, std::size_t input) const;
  // Bytes that gradients with respect to so many elements of trainable constants take, for all threads.
  virtual double trainable_bytes(double elements) const;
  // Whether Segment::gradients() is implemented, and whether NaN and infinities always travel.
  virtual bool differentiates() const = 0;
  virtual bool keeps_nan() const = 0;
  // Whether gradients carry relevance where a request wants it (Redistribution).
  virtual bool redistributes() const { return differentiates(); }
  // Of a recurrent node: the greatest length of its sequences. REQUIRES supports().
  virtual std::int64_t most_steps(const Graph&, const Node&) const {
    return std::numeric_limits<std::int64_t>::max();
  }
  // Whether it reduces values with neurons on the last axis as well.
  virtual bool reduces_last_axis() const { return false; }
  // Whether the node is a separate segment, which reduces nothing. The batch axis of its values may be
  // another than the first; its cost is that of one step.
  virtual bool stands_alone(const Node&) const { return false; }
  virtual std::unique_ptr<Segment> compile(SegmentRequest request) const = 0;
};

// All back ends of the processor in this build; libtorch (torch/backend.h) is none of them.
std::span<const Backend* const> backends();

// The IsNaN in Where(IsNaN(x), number, x), if nothing else reads its result: exporters write it around the
// softmax of attention, for rows that a mask hides whole. Back ends may take over both nodes together.
std::optional<NodeId> nan_test_of(const Graph& graph, const Node& choice);

// The values that a segment reads from outside, ascending; shape arithmetic of views is not among them.
std::vector<ValueId> outside_inputs(const SegmentRequest& request);

}  // namespace assay::inline engine
