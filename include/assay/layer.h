#pragma once

// Layers: the values of a graph that are regarded as neurons, and the position of the neurons in the tensor.

#include <span>
#include <string>
#include <vector>

#include <assay/extend/operator_traits.h>
#include <assay/graph.h>

namespace assay::inline engine {

// How a neuron's positions become one activation.
enum class Reduction { mean, max, min, every_position };

struct Layer {
  std::string name;          // of the node that gives the layer its character (the convolution, not its ReLU)
  NodeId node = no_node;     // that node
  ValueId value = no_value;  // the layer's activations: after the activation function that follows, if any
  // The node's own output, before the activation function (may equal `value`).
  ValueId linear_value = no_value;
  OperatorKind kind = OperatorKind::other;  // of the node; normalisation where several nodes spell one out
  std::string op;                           // to be shown: operator, with its activation: "Conv + Relu"
  // The activation function the layer ends in: an operator ("Relu"), or "Gelu", "Swish", ..., "composite"
  // where several nodes spell it out. Empty where there is none.
  std::string activation;
  ValueRange range;  // what the activation function keeps activations in; everything where it is spelt out
  Shape shape;       // of one record, without the batch axis
  int batch_axis = 0;
  int batch_multiple = 1;        // rows per record when a reshape merged positions into the batch axis
  std::vector<int> neuron_axes;  // of the value's tensor; usually {1}; all other non-batch axes are positions
  std::int64_t neurons = 0;
  std::int64_t parameters = 0;
  bool carries_weights = false;  // convolution, dense, recurrent, or a product of two activations: the layers
                                 // analyses use by default
};

// Activations of one layer: row-major float matrix [inputs, neurons] on the host.
struct Activations {
  std::size_t rows = 0, columns = 0;
  std::vector<float> values;
  std::span<const float> row(std::size_t i) const { return {values.data() + i * columns, columns}; }
};

}  // namespace assay::inline engine
