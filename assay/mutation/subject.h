#pragma once

// A network as mutation operators see it: the layers they can change, with their weights, the neurons these belong to,
// and where a layer begins, meets its activation function and ends.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/engine/layer.h"
#include "assay/engine/session.h"
#include "assay/mutation/layout.h"

namespace assay {

// One constant that a node of a layer reads. A constant that other nodes read as well is copied when it is changed, so
// that a mutation of a layer is one of that layer only.
struct LayerWeights {
  ValueId constant = no_value;
  int node = -1;              // index of the node that reads it
  std::size_t input = 0;      // as which input
  std::int64_t count = 0;
  std::optional<NeuronLayout> layout;  // none where weights belong to no single neuron (Einsum, stacks of matrices)
};

struct SubjectLayer {
  Layer layer;                           // as in Session::layers()
  std::vector<LayerWeights> weights;     // kernels and matrices; of recurrent layers W and R
  std::vector<LayerWeights> biases;      // those of the linear part
  // Negating what these hold of a neuron flips the sign of its pre-activation exactly: weights and biases, or scale and
  // shift of the batch normalisation before the activation function. Empty where no set of constants does.
  std::vector<LayerWeights> negatable;
  ValueId input = no_value;              // the data the layer reads
  ValueId preactivation = no_value;      // what its activation function is applied to; layer.value where there is none
  std::vector<int> nodes;                // from layer.node to the producer of layer.value, in order
  Shape input_shape, output_shape;       // for a batch of one record
  double deviation = 0;                  // standard deviation of all weights (not of biases)
  std::int64_t weight_count = 0, bias_count = 0;
  bool last = false;                     // no layer with weights depends on it
  bool output_function = false;          // its activation is the network's final softmax or sigmoid
  bool several_outputs = false;          // a recurrent layer of which more than one output is read

  const std::string& name() const { return layer.name; }
  bool has_activation() const { return preactivation != layer.value; }
  bool keeps_shape() const { return input_shape == output_shape; }
};

class Subject {
 public:
  struct LeftOut {
    std::string layer, reason;
  };

  // Keeps nothing of the session but its graph. O(nodes + weights).
  explicit Subject(const Session& session);

  const Graph& graph() const { return graph_; }
  // Layers that can be mutated, in the order of computation.
  std::span<const SubjectLayer> layers() const { return layers_; }
  // Throws Error{usage} with the nearest name, or with the reason why the layer cannot be mutated.
  const SubjectLayer& layer(std::string_view name) const;
  // Layers with weights or products that cannot be mutated, and why.
  std::span<const LeftOut> left_out() const { return left_out_; }
  // Shape of a value for a batch of one record; empty if unknown.
  const Shape& shape(ValueId id) const { return shapes_.at(static_cast<std::size_t>(id)); }

 private:
  Graph graph_;
  std::vector<Shape> shapes_;
  std::vector<SubjectLayer> layers_;
  std::vector<LeftOut> left_out_;
};

}  // namespace assay
