#include "assay/coverage/criteria/top_k.h"

#include <algorithm>
#include <limits>

#include "assay/support/numbers/vectorised.h"

namespace assay::coverage {
namespace {

constexpr std::size_t lanes = 32;
constexpr std::size_t block = 1024;  // neurons that are transposed together

// One row in each lane, of its neurons those from `first` on; `greatest` and `positions`, [k, lanes], begin
// with -infinities. A value that belongs among the greatest takes the place of the first that is less, and
// these move on by one.
ASSAY_VECTORISED void choose_in_lanes(const float* __restrict values, std::uint32_t first,
                                      std::uint32_t columns, std::size_t k, float* __restrict greatest,
                                      std::uint32_t* __restrict positions) {
  for (std::uint32_t n = 0; n < columns; ++n) {
    const float *const here = values + n * lanes, *const last = greatest + (k - 1) * lanes;
    std::uint32_t any = 0;
    for (std::size_t i = 0; i < lanes; ++i) any |= static_cast<std::uint32_t>(here[i] > last[i]);
    if (any == 0) continue;
    float value[lanes];
    std::uint32_t position[lanes], moves[lanes];
    for (std::size_t i = 0; i < lanes; ++i) {
      value[i] = here[i];
      position[i] = first + n;
      moves[i] = 0;
    }
    for (std::size_t j = 0; j < k; ++j) {
      float* const kept = greatest + j * lanes;
      std::uint32_t* const place = positions + j * lanes;
      for (std::size_t i = 0; i < lanes; ++i) {
        const float before = kept[i];
        const std::uint32_t position_before = place[i];
        moves[i] |= value[i] > before ? ~std::uint32_t{0} : 0;
        kept[i] = moves[i] != 0 ? value[i] : before;
        place[i] = moves[i] != 0 ? position[i] : position_before;
        value[i] = moves[i] != 0 ? before : value[i];
        position[i] = moves[i] != 0 ? position_before : position[i];
      }
    }
  }
}

}  // namespace

void TopK::choose(const float* values, std::size_t rows, std::size_t columns) {
  const std::size_t k = std::min(k_, columns);
  const float sign = least_ ? -1.0F : 1.0F;
  turned_.resize(std::min(columns, block) * lanes);
  greatest_.assign(k * lanes, -std::numeric_limits<float>::infinity());
  positions_.assign(k * lanes, 0);
  for (std::size_t first = 0; first < columns; first += block) {
    const std::size_t width = std::min(block, columns - first);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t n = 0; n < width; ++n) turned_[n * lanes + r] = sign * values[r * columns + first + n];
    }
    choose_in_lanes(turned_.data(), static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(width), k,
                    greatest_.data(), positions_.data());
  }
  chosen_.resize(rows * k);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < k; ++j) chosen_[r * k + j] = positions_[j * lanes + r];
  }
}

void TopK::each(const Activations& activations, const std::function<void(std::size_t, Positions)>& visit) {
  const std::size_t k = std::min(k_, activations.columns);
  for (std::size_t begin = 0; begin < activations.rows; begin += lanes) {
    const std::size_t rows = std::min(lanes, activations.rows - begin);
    choose(activations.row(begin).data(), rows, activations.columns);
    for (std::size_t r = 0; r < rows; ++r) visit(begin + r, Positions(chosen_).subspan(r * k, k));
  }
}

TopK::Positions TopK::of(std::span<const float> values) {
  choose(values.data(), 1, values.size());
  return chosen_;
}

}  // namespace assay::coverage
