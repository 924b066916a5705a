#pragma once

// Weights in integers of a few bits times a scale.

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

// Symmetric, per neuron and constant: scale = max |w| / greatest over the neuron's weights, w becomes scale *
// round(w / scale), ties to even. Per constant where weights belong to no single neuron.
void round_to_integers(const MutationSite& target, Edit& edit, float greatest);

}  // namespace assay::mutation
