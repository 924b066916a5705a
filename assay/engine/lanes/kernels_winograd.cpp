// What convolutions of 3 x 3 sum before and after their products (winograd.h): blocks of 4 x 4 of the operand
// to 16 points, 16 points to blocks of 2 x 2 of the result.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_winograd.cpp"
#include "assay/engine/lanes/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::lanes::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using LanesOfBlock = hn::CappedTag<float, width>;
using VecOfBlock = hn::Vec<LanesOfBlock>;

// Where a block is in the result.
struct BlockPlace {
  explicit BlockPlace(const BlocksOfFour& blocks)
      : row(blocks.first / ((blocks.columns_out + 1) / 2) * 2),
        column(blocks.first % ((blocks.columns_out + 1) / 2) * 2) {}
  void next(const BlocksOfFour& blocks) {
    column += 2;
    if (column < blocks.columns_out) return;
    column = 0;
    row += 2;
  }
  std::int64_t row, column;
};

// `inside`: no part of the block is beside the picture.
template <bool inside>
HWY_INLINE void points_of_block(const BlocksOfFour& blocks, std::int64_t row, std::int64_t column,
                                std::int64_t point_step, const float* picture, float* points) {
  const LanesOfBlock d;
  for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
    VecOfBlock rows[4][4];
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      VecOfBlock x[4];
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        const std::int64_t at_row = row + r, at_column = column + c;
        const bool there =
            inside || (at_row >= 0 && at_row < blocks.rows && at_column >= 0 && at_column < blocks.columns);
        x[r] =
            there ? hn::Load(d, picture + (at_row * blocks.columns + at_column) * width + lane) : hn::Zero(d);
      }
      rows[0][c] = hn::Sub(x[0], x[2]);
      rows[1][c] = hn::Add(x[1], x[2]);
      rows[2][c] = hn::Sub(x[2], x[1]);
      rows[3][c] = hn::Sub(x[1], x[3]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      float* const to = points + 4 * r * point_step + lane;
      hn::Store(hn::Sub(rows[r][0], rows[r][2]), d, to);
      hn::Store(hn::Add(rows[r][1], rows[r][2]), d, to + point_step);
      hn::Store(hn::Sub(rows[r][2], rows[r][1]), d, to + 2 * point_step);
      hn::Store(hn::Sub(rows[r][1], rows[r][3]), d, to + 3 * point_step);
    }
  }
}

// Returns 0 in each lane where all is finite.
HWY_INLINE VecOfBlock finished(LanesOfBlock d, VecOfBlock sum, Finish finish, VecOfBlock finite, float* to) {
  finite = hn::MulAdd(sum, hn::Zero(d), finite);
  if (finish == Finish::rectify) sum = hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), hn::Zero(d), sum);
  hn::Store(sum, d, to);
  return finite;
}

HWY_INLINE void result_of_block(const BlocksOfFour& blocks, const BlockPlace& place, std::int64_t point_step,
                                const float* points, float bias, Finish finish, float* finite,
                                float* picture) {
  const LanesOfBlock d;
  const bool more_rows = place.row + 1 < blocks.rows_out,
             more_columns = place.column + 1 < blocks.columns_out;
  for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
    VecOfBlock rows[2][4];
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const float* const from = points + c * point_step + lane;
      const VecOfBlock second = hn::Load(d, from + 4 * point_step),
                       third = hn::Load(d, from + 8 * point_step);
      rows[0][c] = hn::Add(hn::Load(d, from), hn::Add(second, third));
      rows[1][c] = hn::Sub(hn::Sub(second, third), hn::Load(d, from + 12 * point_step));
    }
    VecOfBlock all_finite = hn::Load(d, finite + lane);
    const VecOfBlock start = hn::Set(d, bias);
#pragma GCC unroll 2
    for (int r = 0; r < 2; ++r) {
      if (r == 1 && !more_rows) break;
      float* const to = picture + ((place.row + r) * blocks.columns_out + place.column) * width + lane;
      const VecOfBlock left = hn::Add(rows[r][0], hn::Add(rows[r][1], rows[r][2])),
                       right = hn::Sub(hn::Sub(rows[r][1], rows[r][2]), rows[r][3]);
      all_finite = finished(d, hn::Add(left, start), finish, all_finite, to);
      if (more_columns) all_finite = finished(d, hn::Add(right, start), finish, all_finite, to + width);
    }
    hn::Store(all_finite, d, finite + lane);
  }
}

}  // namespace

void points_entry(const BlocksOfFour& blocks, std::int64_t channels, std::int64_t point_step,
                  const float* operand, float* points) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const float* const picture = operand + c * blocks.rows * blocks.columns * width;
    BlockPlace place(blocks);
    for (std::int64_t i = 0; i < blocks.count; ++i, place.next(blocks)) {
      const std::int64_t row = place.row - blocks.top, column = place.column - blocks.left;
      float* const to = points + (c * blocks.count + i) * width;
      if (row >= 0 && column >= 0 && row + 4 <= blocks.rows && column + 4 <= blocks.columns)
        points_of_block<true>(blocks, row, column, point_step, picture, to);
      else
        points_of_block<false>(blocks, row, column, point_step, picture, to);
    }
  }
}

void results_entry(const BlocksOfFour& blocks, std::int64_t units, std::int64_t point_step,
                   const float* points, const float* bias, Finish finish, float* finite, float* result) {
  for (std::int64_t u = 0; u < units; ++u) {
    float* const picture = result + u * blocks.rows_out * blocks.columns_out * width;
    BlockPlace place(blocks);
    for (std::int64_t i = 0; i < blocks.count; ++i, place.next(blocks))
      result_of_block(blocks, place, point_step, points + (u * blocks.count + i) * width,
                      bias ? bias[u] : 0.0F, finish, finite, picture);
  }
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(points_entry);
HWY_EXPORT(results_entry);

void points_of_operand(const BlocksOfFour& blocks, std::int64_t channels, std::int64_t point_step,
                       const float* operand, float* points) {
  HWY_DYNAMIC_DISPATCH(points_entry)(blocks, channels, point_step, operand, points);
}
void results_of_points(const BlocksOfFour& blocks, std::int64_t units, std::int64_t point_step,
                       const float* points, const float* bias, Finish finish, float* finite, float* result) {
  HWY_DYNAMIC_DISPATCH(results_entry)(blocks, units, point_step, points, bias, finish, finite, result);
}

}  // namespace assay::lanes
#endif
