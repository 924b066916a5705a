#pragma once

// Tensors that attacks and constraints of anybody's own give, made sure of.

#include <string>

#include <assay/tensor.h>

namespace assay::attack {

// What `who` ("attack mine: perturb()") gave in place of `like`: a tensor of that shape and device, and where
// `exactly` of its element type and without a NaN. Throws Error{usage} that says what was given and wanted.
const Tensor& given_tensor(const std::string& who, const Tensor& given, const Tensor& like,
                           bool exactly = true);

}  // namespace assay::attack
