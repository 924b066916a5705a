#include "assay/coverage/criteria/row_loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "assay/support/numbers/vectorised.h"

namespace assay::coverage {
namespace {

ASSAY_VECTORISED void first_above_neurons(const float* values, const std::size_t* records, std::size_t rows,
                                          std::size_t columns, const float* __restrict bounds,
                                          std::uint32_t* __restrict first) {
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const row = values + r * columns;
    const auto record = static_cast<std::uint32_t>(records[r]);
    for (std::size_t n = 0; n < columns; ++n)
      first[n] = row[n] > bounds[n] ? std::min(first[n], record) : first[n];
  }
}

ASSAY_VECTORISED void first_above_records(const float* values, const std::size_t* records, std::size_t rows,
                                          std::size_t columns, const float* __restrict bounds,
                                          std::uint32_t* __restrict first) {
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const row = values + r * columns;
    const auto record = static_cast<std::uint32_t>(records[r]);
    const float bound = bounds[r];
    for (std::size_t n = 0; n < columns; ++n)
      first[n] = row[n] > bound ? std::min(first[n], record) : first[n];
  }
}

ASSAY_VECTORISED void rows_beyond(const float* values, std::size_t rows, std::size_t columns,
                                  const float* __restrict low, const float* __restrict high,
                                  std::uint8_t* __restrict out) {
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const row = values + r * columns;
    std::uint32_t any = 0;
    for (std::size_t n = 0; n < columns; ++n)
      any |= static_cast<std::uint32_t>(row[n] < low[n]) | static_cast<std::uint32_t>(row[n] > high[n]);
    out[r] = any != 0;
  }
}

constexpr std::size_t half = 32;  // bits of a word that are made together
constexpr std::array<std::uint32_t, half> single_bits = [] {
  std::array<std::uint32_t, half> bits{};
  for (std::size_t i = 0; i < half; ++i) bits[i] = std::uint32_t{1} << i;
  return bits;
}();

// `halves`: per row, an even number of halves of words, the low one first.
ASSAY_VECTORISED void rows_of_signs(const float* values, std::size_t rows, std::size_t columns,
                                    std::size_t halves, std::uint64_t* __restrict words) {
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const row = values + r * columns;
    for (std::size_t h = 0; h < halves; ++h) {
      std::uint32_t word = 0;
      if ((h + 1) * half <= columns) {
        for (std::size_t i = 0; i < half; ++i) word |= row[h * half + i] > 0 ? single_bits[i] : 0;
      } else {
        for (std::size_t i = h * half; i < columns; ++i) word |= row[i] > 0 ? single_bits[i - h * half] : 0;
      }
      words[(r * halves + h) / 2] |= static_cast<std::uint64_t>(word) << (h % 2 * half);
    }
  }
}

// The place of a number among all float32, and the number at a place; infinity is the last.
constexpr std::int64_t last_place = 0x7F800000;
std::int64_t place_of(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(std::abs(number));
  return std::min<std::int64_t>(bits, last_place) * (number < 0 ? -1 : 1);
}
float number_at(std::int64_t place) {
  const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(std::abs(place)));
  return place < 0 ? -number : number;
}

}  // namespace

float last_before(double near, const std::function<bool(float)>& beyond) {
  // Steps that double, down to a number where it does not hold and up to one where it does, then halves.
  std::int64_t low = place_of(static_cast<float>(near)), high = low;
  for (std::int64_t step = 1; low > -last_place && beyond(number_at(low)); step *= 2) {
    high = low;
    low = std::max(low - step, -last_place);
  }
  if (high == low) {
    for (std::int64_t step = 1; high < last_place && !beyond(number_at(high)); step *= 2) {
      low = high;
      high = std::min(high + step, last_place);
    }
    if (!beyond(number_at(high))) return number_at(high);
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (beyond(number_at(middle)) ? high : low) = middle;
  }
  return number_at(low);
}

float at_most(double bound) {
  const auto nearest = static_cast<float>(bound);
  return nearest > bound ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}

float at_least(double bound) { return -at_most(-bound); }

void first_above(const Activations& activations, std::span<const std::size_t> records, Bound kind,
                 std::span<const float> bounds, std::span<std::uint32_t> first) {
  const auto loop = kind == Bound::of_neuron ? first_above_neurons : first_above_records;
  loop(activations.values.data(), records.data(), activations.rows, activations.columns, bounds.data(),
       first.data());
}

std::vector<std::uint8_t> any_beyond(const Activations& activations, std::span<const float> low,
                                     std::span<const float> high) {
  std::vector<std::uint8_t> any(activations.rows);
  rows_beyond(activations.values.data(), activations.rows, activations.columns, low.data(), high.data(),
              any.data());
  return any;
}

std::vector<std::uint64_t> signs_of(const Activations& activations) {
  const std::size_t words = (activations.columns + 63) / 64;
  std::vector<std::uint64_t> signs(activations.rows * words);
  rows_of_signs(activations.values.data(), activations.rows, activations.columns, 2 * words, signs.data());
  return signs;
}

}  // namespace assay::coverage
