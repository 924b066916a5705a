#pragma once

// Changes of structure that act on some neurons of a value and leave the others as they are.

#include <assay/extend/mutation_edit.h>

namespace assay::mutation {

// Multiplies these neurons of `value` by a factor. `value` has the neuron axes of the layer. The node's name
// ends in `suffix`.
void multiply_neurons(Edit& edit, const SubjectLayer& layer, ValueId value,
                      const std::vector<std::int64_t>& neurons, float factor, const std::string& suffix);

// Sets these neurons of `value` to a number, including NaN.
void replace_neurons(Edit& edit, const SubjectLayer& layer, ValueId value,
                     const std::vector<std::int64_t>& neurons, float number, const std::string& suffix);

}  // namespace assay::mutation
