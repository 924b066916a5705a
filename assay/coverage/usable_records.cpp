#include "assay/coverage/usable_records.h"

#include <algorithm>
#include <bit>

#include <assay/evaluate.h>
#include "assay/support/numbers/vectorised.h"

namespace assay::coverage {
namespace {

// Clears `finite` of rows with an infinity or a NaN.
ASSAY_VECTORISED void look_for_others(const float* values, std::size_t rows, std::size_t columns,
                                      std::uint8_t* __restrict finite) {
  constexpr std::uint32_t exponent = 0x7F800000;  // all ones for infinities and NaN
  for (std::size_t r = 0; r < rows; ++r) {
    std::uint32_t greatest = 0;
    for (std::size_t n = 0; n < columns; ++n)
      greatest = std::max(greatest, std::bit_cast<std::uint32_t>(values[r * columns + n]) & exponent);
    if (greatest == exponent) finite[r] = 0;
  }
}

}  // namespace

std::vector<bool> finite_rows(std::span<const Activations> layers, std::size_t rows) {
  std::vector<std::uint8_t> finite(rows, 1);
  for (const Activations& layer : layers)
    look_for_others(layer.values.data(), layer.rows, layer.columns, finite.data());
  return {finite.begin(), finite.end()};
}

std::vector<bool> usable_rows(std::span<const Activations> layers, std::span<const std::int64_t> predicted,
                              std::size_t rows) {
  std::vector<bool> usable = finite_rows(layers, rows);
  for (std::size_t r = 0; r < predicted.size(); ++r) usable[r] = usable[r] && predicted[r] != no_class;
  return usable;
}

}  // namespace assay::coverage
