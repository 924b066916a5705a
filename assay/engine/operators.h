#pragma once

// What kinds of operators there are, as far as layers are concerned.

#include <string_view>

namespace assay {

bool is_convolution(std::string_view op);
bool is_recurrent(std::string_view op);
bool is_dense(std::string_view op);             // matrix products
bool is_normalisation(std::string_view op);
bool is_pooling(std::string_view op);
bool is_reduction(std::string_view op);         // ReduceMean and its kin
bool is_activation(std::string_view op);        // functions networks use between layers, Softmax included
bool is_arithmetic(std::string_view op);        // of several operands
bool is_elementwise(std::string_view op);       // activations (but Softmax), arithmetic, mathematical functions
bool is_pass_through(std::string_view op);      // changes nothing in inference

}  // namespace assay
