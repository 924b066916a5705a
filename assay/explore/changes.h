#pragma once

// Changes from seeds, as several constraints look at them. Tensors are [n, record...], in the processor's
// memory.

#include <assay/tensor.h>

namespace assay::explore {

// The points, no element further than `most` from its seed.
Tensor within(const Tensor& points, const Tensor& seeds, double most);

// [n] bool: rows of a mask in which nothing is true.
Tensor rows_without(const Tensor& mask);

}  // namespace assay::explore
