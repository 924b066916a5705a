#pragma once

// Where the influence of a layer's neurons leaves them.

#include <vector>

#include <assay/extend/mutation_subject.h>

namespace assay::mutation {

// The values that still hold one slice per neuron of the layer and are read by something that mixes neurons:
// the next layer with weights, an addition, a reshape, a graph output. Between layer.value and these lie only
// operators that work on every neuron by itself (activation functions, batch normalisation, pooling,
// dropout). Zeroing a neuron in all of them is zeroing its outgoing weights. In the order of computation,
// each once.
std::vector<ValueId> outgoing_values(const Subject& subject, const SubjectLayer& layer);

}  // namespace assay::mutation
