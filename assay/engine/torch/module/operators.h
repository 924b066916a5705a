#pragma once

// The operators of this module, one family a file. Adding one: a function here and a line in operators.cpp.

#include "assay/engine/torch/module/call.h"

namespace assay::torch_module {

// What the operands of an operator are; those that are not named are data.
struct Operator {
  std::string_view op;
  Outputs (*compute)(const Call&);
  bool (*takes)(const Form&);  // whether it computes this form
  std::vector<Role> roles = {};
  Role role(std::size_t operand) const { return operand < roles.size() ? roles[operand] : Role::data; }
};
// nullptr where there is none.
const Operator* find_operator(std::string_view op);

// elementwise.cpp
Outputs function_of_one(const Call& call);
bool is_function(std::string_view op);
Outputs with_slope(const Call& call);
Outputs prelu(const Call& call);
Outputs gelu(const Call& call);
Outputs swish(const Call& call);
Outputs hard_sigmoid(const Call& call);
Outputs thresholded_relu(const Call& call);
Outputs shrink(const Call& call);
Outputs clip(const Call& call);
Outputs pair(const Call& call);
Outputs where(const Call& call);

// products.cpp
Outputs matrix_product(const Call& call);
bool takes_gemm(const Form& form);
Outputs gemm(const Call& call);
bool takes_einsum(const Form& form);
Outputs einsum(const Call& call);

// windows.cpp
bool takes_convolution(const Form& form);
Outputs convolution(const Call& call);
Outputs transposed_convolution(const Call& call);
Outputs max_pool(const Call& call);
bool takes_average_pool(const Form& form);
Outputs average_pool(const Call& call);
Outputs global_average_pool(const Call& call);
Outputs global_max_pool(const Call& call);

// normalisation.cpp
bool takes_batch_normalisation(const Form& form);
Outputs batch_normalisation(const Call& call);
bool takes_axis_of_record(const Form& form);
Outputs layer_normalisation(const Call& call);
Outputs group_normalisation(const Call& call);
Outputs local_response_normalisation(const Call& call);
Outputs lp_normalisation(const Call& call);
bool takes_mean_variance(const Form& form);
Outputs mean_variance_normalisation(const Call& call);

// reductions.cpp
bool takes_reduction(const Form& form);
Outputs reduction(const Call& call);
Outputs softmax(const Call& call);
Outputs log_softmax(const Call& call);
bool takes_cumulative(const Form& form);
Outputs cumulative_sum(const Call& call);

// movement.cpp
Outputs view(const Call& call);
bool takes_cast(const Form& form);
Outputs transpose(const Call& call);
bool takes_several(const Form& form);
Outputs concatenation(const Call& call);
Outputs split(const Call& call);
bool takes_slice(const Form& form);
Outputs slice(const Call& call);
Outputs gather(const Call& call);
bool takes_pad(const Form& form);
Outputs pad(const Call& call);
Outputs repetition(const Call& call);
Outputs tile(const Call& call);
Outputs depth_to_space(const Call& call);
Outputs space_to_depth(const Call& call);
Outputs triangle(const Call& call);

// resize.cpp
bool takes_resize(const Form& form);
Outputs resize(const Call& call);

}  // namespace assay::torch_module
