#pragma once

// Matrices whose rows become columns.

#include <algorithm>
#include <array>
#include <cstdint>

namespace assay::array {

// to[column * to_step + row] = from[row * from_step + column]. By squares that are held in between: lines a
// power of 2 apart would throw each other out of the cache, and whole lines are written.
template <typename T>
void write_transposed(std::int64_t rows, std::int64_t columns, std::int64_t from_step, const T* from,
                      std::int64_t to_step, T* to) {
  constexpr std::int64_t side = 16;
  std::array<std::array<T, side>, side> square{};
  for (std::int64_t column = 0; column < columns; column += side) {
    const std::int64_t wide = std::min(side, columns - column);
    for (std::int64_t row = 0; row < rows; row += side) {
      const std::int64_t high = std::min(side, rows - row);
      for (std::int64_t r = 0; r < high; ++r) {
        const T* const line = from + (row + r) * from_step + column;
        for (std::int64_t c = 0; c < wide; ++c) square.data()[c].data()[r] = line[c];
      }
      for (std::int64_t c = 0; c < wide; ++c)
        std::copy_n(square.data()[c].data(), high, to + (column + c) * to_step + row);
    }
  }
}

}  // namespace assay::array
