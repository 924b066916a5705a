#pragma once

// The most frequent pool: the greatest element of windows over two spatial axes, without padding or dilation.
// libtorch takes ten times as long for it.

#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {

// True for float32 on the CPU, planes of less than 2^31 elements. REQUIRES four axes.
bool is_tiled_pool(const Tensor& input);

// The greatest element of each window [n, c, places...], of equal ones the first in rows from the top; NaN
// where there is one. Records for autograd; the gradient itself cannot be differentiated. REQUIRES
// is_tiled_pool(), kernel and stride of two entries of at least 1, and at least one place on both axes.
Tensor tiled_max_pool(const Tensor& input, const Ints& kernel, const Ints& stride, const Ints& places);

}  // namespace assay::operators
