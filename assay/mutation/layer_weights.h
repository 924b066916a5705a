#pragma once

// The constants that hold a layer's weights, and how they are laid out.

#include <string>

#include <assay/extend/mutation_subject.h>

namespace assay::mutation {

// Fills in weights, biases and input of a layer. Returns the reason why the layer cannot be mutated, or
// nothing.
std::string find_layer_weights(const Graph& graph, SubjectLayer& layer);

// The Pad node that gives a recurrent node its biases: one for both parts, as Keras has it, and zeros.
// no_node where there is none.
NodeId padding_of_bias(const Graph& graph, const Node& node);

// The constant that input `input` of a node reads, as float32 weights of neurons in this layout; nothing if
// it is not a float32 constant. The layout is dropped when it does not fit the number of elements or of
// neurons.
std::optional<LayerWeights> weights_at(const Graph& graph, NodeId node, std::size_t input,
                                       std::optional<NeuronLayout> layout, std::int64_t neurons);

}  // namespace assay::mutation
