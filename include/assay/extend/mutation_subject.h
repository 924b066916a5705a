#pragma once

// A network as mutation operators see it: the layers they can change, with their weights, the neurons these
// belong to, and where a layer begins, meets its activation function and ends.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/layer.h>
#include <assay/session.h>

namespace assay::mutation {

// Where the weights of one neuron lie in an array of weights. All linear and recurrent operators of ONNX fit
// one picture: the flat array is [outer, before, inner, after], neuron n = outer index * inner + inner index,
// and its weights are all `before` x `after` elements at these two indices.
//
//   operator                array                          outer  before  inner  after
//   Conv                    [M, C/group, k...]             M      1       1      C/group * k...
//   ConvTranspose           [C, M/group, k...]             group  C/group M/group  k...
//   Gemm, transB = 1        [M, K]                         M      1       1      K
//   Gemm, MatMul            [K, M]                         1      K       M      1
//   LSTM, GRU, RNN: W, R    [directions, gates * H, I]     directions  gates  H  I
//   biases                  [M]                            1      1       M      1
struct NeuronLayout {
  std::int64_t outer = 1, before = 1, inner = 1, after = 1;

  std::int64_t neurons() const { return outer * inner; }
  std::int64_t per_neuron() const { return before * after; }
  std::int64_t count() const { return neurons() * per_neuron(); }
  // Flat index of weight k of a neuron. REQUIRES neuron < neurons(), k < per_neuron().
  std::int64_t index(std::int64_t neuron, std::int64_t k) const;
  // The neuron that a flat index belongs to. REQUIRES index < count().
  std::int64_t neuron_of(std::int64_t index) const;
  bool operator==(const NeuronLayout&) const = default;
};

// One constant that a node of a layer reads. A constant that other nodes read as well is copied when it is
// changed, so that a mutation of a layer is one of that layer only.
struct LayerWeights {
  ValueId constant = no_value;
  NodeId node = no_node;  // that reads it
  std::size_t input = 0;  // as which input
  std::int64_t count = 0;
  std::optional<NeuronLayout>
      layout;  // none where weights belong to no single neuron (Einsum, stacks of matrices)
};

struct SubjectLayer {
  Layer layer;                        // as in Session::layers()
  std::vector<LayerWeights> weights;  // kernels and matrices; of recurrent layers W and R
  std::vector<LayerWeights> biases;   // those of the linear part
  // Negating what these hold of a neuron flips the sign of its pre-activation exactly: weights and biases, or
  // scale and shift of the batch normalisation before the activation function. Empty where no set of
  // constants does.
  std::vector<LayerWeights> negatable;
  ValueId input = no_value;  // the data the layer reads
  ValueId preactivation =
      no_value;               // what its activation function is applied to; layer.value where there is none
  std::vector<NodeId> nodes;  // from layer.node to the producer of layer.value, in order
  Shape input_shape, output_shape;  // for a batch of one record
  double deviation = 0;             // standard deviation of all weights (not of biases)
  std::int64_t weight_count = 0, bias_count = 0;
  bool last = false;             // no layer with weights depends on it
  bool output_function = false;  // its activation is the network's final softmax or sigmoid
  bool several_outputs = false;  // a recurrent layer of which more than one output is read

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
  const Shape& shape(ValueId id) const { return shapes_.at(index_of(id)); }

 private:
  Graph graph_;
  std::vector<Shape> shapes_;
  std::vector<SubjectLayer> layers_;
  std::vector<LeftOut> left_out_;
};

}  // namespace assay::mutation
