#pragma once

// Back ends of the processor: each compiles segments of a static graph (static_graph.h) into separate
// programs. Adding one: a class like its siblings and a line in backend.cpp.

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <assay/layer.h>
#include <assay/tensor.h>

namespace assay {

// Shape of a value for a batch of one record; empty when unknown.
using ShapeOf = std::function<const Shape&(ValueId)>;

// A layer to be reduced to neuron activations while it is in cache: over the positions of each neuron, or
// over those of all of them.
struct ReducedValue {
  ValueId value = no_value;
  Reduction reduction = Reduction::mean;  // not every_position
  std::size_t axis = 1;                   // of neurons: 1 or the last
  bool whole = false;
  friend bool operator==(const ReducedValue&, const ReducedValue&) = default;
  // Numbers a record; `shape` is the value's.
  std::int64_t columns(const Shape& shape) const { return whole ? 1 : shape[axis]; }
};

// Gradients that carry epsilon relevance over values instead (relevance/compiled.h): equal maxima share, what
// comes back to a value z is multiplied with z / (z + epsilon sgn z), and functions f pass f(x) / x.
struct Redistribution {
  struct Stabilised {
    ValueId value = no_value;
    double epsilon = 0;
  };
  std::vector<Stabilised> stabilised = {};
  std::vector<ValueId> by_ratio = {};  // results of functions with f(0) = 0
};

// Nodes that follow each other in the graph's order, all of them supported.
struct StretchRequest {
  const Graph* graph = nullptr;  // must outlive the segment
  std::vector<int> nodes;
  ShapeOf shape_of;
  std::vector<ValueId> keep;          // values to be returned whole
  std::vector<ReducedValue> taps;     // of values that the nodes compute
  std::vector<ValueId> learned = {};  // constants whose values come with every run, as inputs do
  std::optional<Redistribution> redistribution = {};  // of back ends that differentiate
  int threads = 1;
};

// Immutable; may be run from one thread at a time.
class Stretch {
 public:
  virtual ~Stretch() = default;

  // Values from outside that the nodes read (of constants, those that are learned), and what run() returns.
  virtual std::span<const ValueId> inputs() const = 0;
  virtual std::span<const ValueId> outputs() const = 0;

  // `given` holds every input, float32 on the CPU: [n, ...], or a constant. Adds the outputs to `results`.
  // `tapped` holds, per tap, a matrix [n, columns] to be filled.
  virtual void run(const Tensors& given, Tensors& results, std::span<float* const> tapped) const = 0;

  // Gradients of a scalar with respect to `wanted` inputs, given its gradient with respect to each output (an
  // undefined tensor stands for zeros). Of back ends that differentiate. In the order of `wanted`.
  virtual std::vector<Array> gradients(const Tensors& given, std::span<const Array> of_outputs,
                                       std::span<const ValueId> wanted) const;

  // Whether the next is there.
  virtual bool takes_objectives() const { return true; }
  // Both in one, for a segment whose outputs are what the objective reads; by number, with respect to
  // constants of the sum over all records. Of back ends that differentiate.
  virtual RecordGradients gradients(const Tensors& given, const RecordObjective& objective,
                                    std::span<const ValueId> wanted) const;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // True when it can run the node on this processor: float32, batch on axis 0, constant weights, attributes
  // it knows.
  virtual bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of) const = 0;
  // Nanoseconds that one thread is expected to take for a record, from shapes and instruction set alone.
  // REQUIRES supports().
  virtual double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) const = 0;
  // Bytes that a thread keeps for the node's results where gradients go back through it.
  virtual double kept_bytes(const Node& node, const ShapeOf& shape_of) const = 0;
  // Whether the constant that the node reads there may be learned. REQUIRES supports().
  virtual bool learns(const Graph& graph, const Node& node, std::size_t input) const;
  // Bytes that gradients with respect to so many elements of learned constants take, for all threads.
  virtual double learned_bytes(double elements) const;
  // Whether Stretch::gradients() is there, and whether NaN and infinities always travel.
  virtual bool differentiates() const = 0;
  virtual bool keeps_nan() const = 0;
  // Of a recurrent node: how long its sequences may be. REQUIRES supports().
  virtual std::int64_t most_steps(const Graph&, const Node&) const {
    return std::numeric_limits<std::int64_t>::max();
  }
  // Whether it reduces values with neurons on the last axis as well.
  virtual bool reduces_last_axis() const { return false; }
  // Whether the node is a separate segment, which reduces nothing. Its values may have the records elsewhere
  // than in front; its cost is that of one step.
  virtual bool stands_alone(const Node&) const { return false; }
  virtual std::unique_ptr<Stretch> compile(StretchRequest request) const = 0;
};

// All there are in this build.
std::span<const Backend* const> backends();

// The values that a segment reads from outside, ascending; shape arithmetic of views is not among them.
std::vector<ValueId> outside_inputs(const StretchRequest& request);

}  // namespace assay
