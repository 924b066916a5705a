#pragma once

// Quantisation for other kernels.

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {

// 8 bits without sign for the whole tensor, from its own least and greatest number: what
// DynamicQuantizeLinear gives, as real numbers again. Gradients pass as if it were not there.
Array dynamically_rounded(const Array& x);

}  // namespace assay::operators
