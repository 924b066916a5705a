#pragma once

// The types in which two operands meet (docs/architecture.md, "Element types of arrays").

#include <assay/array.h>
#include <assay/array_math.h>

namespace assay::array {

// The type that an array is computed in with a single number.
DType with_scalar(const Array& a, Scalar b);
// The number as an operand beside the array: without axes, of that type.
Array beside(const Array& a, Scalar b);

}  // namespace assay::array
