#pragma once

// Rearranging float32 weights from Keras's axis order to ONNX's.

#include <span>
#include <vector>

#include <assay/array.h>

namespace assay::inline model {

// Axis i of the result is axis permutation[i] of `array`. O(elements). REQUIRES float32.
Array transposed(const Array& array, std::span<const int> permutation);
Array transposed(const Array& array, std::initializer_list<int> permutation);

// The array with the listed axes running backwards.
Array reversed(const Array& array, std::span<const int> axes);

// `count` copies of a number, as shape [count].
Array filled(std::int64_t count, float value);

// One number of rank 0, as float32.
Array scalar(double value);
Array integers(const std::vector<std::int64_t>& values);

}  // namespace assay::inline model
