// Products of two computed matrices: a block of rows by columns stays in registers while what they have in
// common passes by.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_products.cpp"
#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::lanes::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes16 = hn::CappedTag<float, width>;
using Vec = hn::Vec<Lanes16>;

// A block that leaves registers for operands: 32 registers with AVX-512 and on ARM, otherwise 16.
#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2
constexpr int block_rows = 3, block_columns = 3;
#else
constexpr int block_rows = 4, block_columns = 6;
#endif

template <int rows, int columns>
HWY_INLINE void block(const ProductMap& map, const float* left, const float* right, bool add, float* result) {
  const Lanes16 d;
  for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
    Vec sums[rows][columns];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 6
      for (int c = 0; c < columns; ++c) sums[r][c] = hn::Zero(d);
    }
    const float *x = left + lane, *y = right + lane;
    for (std::int64_t i = 0; i < map.inner; ++i, x += map.left_inner, y += map.right_inner) {
      Vec across[columns];
#pragma GCC unroll 6
      for (int c = 0; c < columns; ++c) across[c] = hn::Load(d, y + c * map.right_column);
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) {
        const Vec down = hn::Load(d, x + r * map.left_row);
#pragma GCC unroll 6
        for (int c = 0; c < columns; ++c) sums[r][c] = hn::MulAdd(down, across[c], sums[r][c]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 6
      for (int c = 0; c < columns; ++c) {
        float* const to = result + r * map.result_row + c * map.result_column + lane;
        hn::Store(add ? hn::Add(sums[r][c], hn::Load(d, to)) : sums[r][c], d, to);
      }
    }
  }
}

template <int rows>
void columns_of(const ProductMap& map, const float* left, const float* right, bool add, float* result) {
  std::int64_t c = 0;
  for (; c + block_columns <= map.columns; c += block_columns)
    block<rows, block_columns>(map, left, right + c * map.right_column, add, result + c * map.result_column);
  for (; c < map.columns; ++c)
    block<rows, 1>(map, left, right + c * map.right_column, add, result + c * map.result_column);
}

}  // namespace

void multiply_entry(const ProductMap& map, const float* left, const float* right, bool add, float* result) {
  for (const ProductPlace& place : map.places) {
    const float *x = left + place.left, *y = right + place.right;
    float* const to = result + place.result;
    std::int64_t r = 0;
    for (; r + block_rows <= map.rows; r += block_rows)
      columns_of<block_rows>(map, x + r * map.left_row, y, add, to + r * map.result_row);
    for (; r < map.rows; ++r) columns_of<1>(map, x + r * map.left_row, y, add, to + r * map.result_row);
  }
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(multiply_entry);

void multiply(const ProductMap& map, const float* left, const float* right, bool add, float* result) {
  HWY_DYNAMIC_DISPATCH(multiply_entry)(map, left, right, add, result);
}

}  // namespace assay::lanes
#endif
