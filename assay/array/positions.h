#pragma once

// Reading and writing along an axis at positions, of which there is one for every element read or written.

#include <cstdint>

#include <assay/array.h>

namespace assay::array {

// As int64; axes along which they repeat (with a stride of 0) still do. Throws Error{model} for other types
// than int64 and int32, and for a position that is outside of the axis of the shape.
Array checked_positions(const Array& positions, std::int64_t axis, const Shape& shape);

// The functions below take checked positions, an axis from the front, and arrays of one rank, which is not 0.
// Axes other than the one are not longer in the positions than in `whole`.
Array read_at(const Array& whole, std::int64_t axis, const Array& positions);
// Values in the shape of the positions. Those of one position are taken in order. REQUIRES a contiguous
// `whole`.
void copy_at(Array& whole, std::int64_t axis, const Array& positions, const Array& values);
void add_at(Array& whole, std::int64_t axis, const Array& positions, const Array& values);
// Which of the values copy_at leaves there: the last ones of each position.
Array lasting_at(const Shape& whole, std::int64_t axis, const Array& positions);

// Itself, or with one axis where it has none.
inline Array with_axis(const Array& array) { return array.rank() == 0 ? array.reshape({1}) : array; }

}  // namespace assay::array
