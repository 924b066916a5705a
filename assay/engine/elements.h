#pragma once

// Elements of arrays as rows and as plain numbers.

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <assay/array_math.h>

namespace assay::inline engine {

// The array itself if it is contiguous and of this type, otherwise a copy; without gradients.
Array in_memory(const Array& array, DType type);

// The same as [n, elements of a row].
Array as_rows(const Array& array);

// Positions along an axis, its rows say: some of them in the order given, and some of them put instead of
// others. Throws Error{usage} for positions that there are not.
Array picked(const Array& array, std::span<const std::int64_t> positions, std::int64_t axis = 0);
void put(Array into, std::span<const std::int64_t> positions, const Array& from, std::int64_t axis = 0);
// One row, a copy without axis 0.
Array row_of(const Array& array, std::int64_t row);

// Of an array of truth values.
std::vector<bool> truths_of(const Array& mask);
// Whether some element is NaN.
bool has_nan(const Array& array);
// Of an array of float32: neither infinity nor NaN.
bool has_finite_elements(const Array& array);
// The least and the greatest of float32 numbers; nothing where there are none, or one is NaN.
std::optional<std::pair<float, float>> range_of(const Array& array);

// body(std::span<const float>), or of double for elements of any other type.
template <typename Body>
auto on_numbers(const Array& array, const Body& body) {
  const bool single = array.dtype() == DType::float32;
  const Array host = in_memory(array, single ? DType::float32 : DType::float64);
  if (single) return body(host.as<float>());
  return body(host.as<double>());
}

std::vector<double> doubles_of(const Array& array);
std::vector<float> floats_of(const Array& array);

}  // namespace assay::inline engine
