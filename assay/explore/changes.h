#pragma once

// Changes from seeds, as several constraints look at them. Arrays are [n, record...], contiguous ones of
// float32.

#include <assay/tensor.h>

namespace assay::explore {

// The points, no element further than `most` from its seed.
Array within(const Array& points, const Array& seeds, double most);

// [n] bool: rows of a mask in which nothing is true.
Array rows_without(const Array& mask);

}  // namespace assay::explore
