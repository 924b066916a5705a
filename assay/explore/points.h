#pragma once

// Arithmetic on the points of searches, a row each: [n, record...] of float32 in memory.

#include <cstddef>
#include <span>

#include <assay/array.h>

namespace assay::explore {

std::span<float> elements(const Array& points);
std::size_t elements_in_row(const Array& points);

// Rows from `first` on.
Array rows_from(const Array& points, std::size_t first);
bool same_row(const Array& a, const Array& b, std::size_t row);

// Each row over its root mean square.
Array normalised(const Array& gradients);
// From `points` on, `by` times `direction`.
Array moved(const Array& points, const Array& direction, double by);
// Into the valid range, 0 to 1.
Array clipped(const Array& points);

// The nearest 8-bit levels of the valid range.
Array on_levels(const Array& points);
// The same, each element of a change from the seeds, which are on levels, towards its seed: what keeps within
// a distance, an amount of light, a box keeps within it.
Array on_levels(const Array& points, const Array& seeds);

}  // namespace assay::explore
