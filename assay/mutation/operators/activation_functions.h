#pragma once

// The activation functions of Keras 2 and their operators.

#include <string>
#include <vector>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

// elu, softmax, selu, softplus, softsign, relu, tanh, sigmoid, hard-sigmoid, exponential, linear.
std::vector<std::string> activation_functions();
// Of a layer, by the name that Keras has for it; the operator's name where it has none; "linear" for none.
std::string activation_of(const SubjectLayer& layer);
// Makes the layer end in the function of this name in place of its own.
void put_activation(const SubjectLayer& layer, const std::string& name, Edit& edit);

}  // namespace assay::mutation
