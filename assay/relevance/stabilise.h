#pragma once

// The division that all rules share.

#include <ATen/core/Tensor.h>

namespace assay::relevance {

// relevance / (z + epsilon * sgn(z)) with sgn(0) = +1, and 0 where that denominator is 0. The shapes
// broadcast.
at::Tensor share_of(const at::Tensor& relevance, const at::Tensor& z, double epsilon = 0);

}  // namespace assay::relevance
