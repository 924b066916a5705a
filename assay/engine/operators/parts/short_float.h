#pragma once

#include <functional>

#include <assay/tensor.h>
#include "assay/model/short_float.h"

namespace assay::operators {

// Each number rounded by a function, as floats; gradients pass as if nothing happened.
Array rounded_by(const Array& x, const std::function<float(float)>& function);

// The nearest numbers of a type of 8 bits and less.
inline Array to_short_float(const Array& x, ShortFloat type, bool saturates) {
  return rounded_by(x, [=](float value) { return rounded_to(type, value, saturates); });
}

}  // namespace assay::operators
