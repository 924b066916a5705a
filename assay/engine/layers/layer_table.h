#pragma once

// Finds the layers of a graph.

#include <vector>

#include <assay/layer.h>
#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

// In the order of computation. An operator begins a layer when it is a convolution, a matrix product, a
// recurrent cell, a normalisation, a pooling, a sum (or product) of two activations, an embedding, trees, or
// an activation function that does not directly follow one of these; follow_chain() says where the layer
// ends. Shape arithmetic and pure movement of data begin none. Views of units (unit_views.h) come last.
std::vector<Layer> find_layers(const Graph& graph, const Constants& constants,
                               std::span<const ValueInfo> infos);

}  // namespace assay::inline engine
