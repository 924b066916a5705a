#pragma once

#include <assay/tensor.h>
#include "assay/model/float8.h"

namespace assay::operators {

// The nearest numbers of an 8-bit type, as floats; gradients pass as if they were the same.
Tensor to_float8(const Tensor& x, Float8 type, bool saturates);

}  // namespace assay::operators
