// What convolutions sum before and after their products (winograd.h): what the pieces of a kernel read for a
// block to points, 16 points to blocks of 2 x 2 of the result; and back.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_winograd.cpp"
#include "assay/array/targets.h"

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

// What a piece of so many taps makes of the elements it reads, one more than taps.
template <int taps>
HWY_INLINE void points_along(const VecOfBlock (&x)[taps + 1], VecOfBlock (&points)[taps + 1]) {
  if constexpr (taps == 1) {
    points[0] = x[0];
    points[1] = x[1];
  } else if constexpr (taps == 2) {
    points[0] = hn::Sub(x[0], x[1]);
    points[1] = x[1];
    points[2] = hn::Sub(x[2], x[1]);
  } else {
    points[0] = hn::Sub(x[0], x[2]);
    points[1] = hn::Add(x[1], x[2]);
    points[2] = hn::Sub(x[2], x[1]);
    points[3] = hn::Sub(x[3], x[1]);
  }
}

// `row` and `column` of what the piece's first tap reads for the first of the results. `inside`: no part of
// that is outside the picture.
template <int taps_down, int taps_across, bool inside>
HWY_INLINE void points_of_block(const BlocksOfFour& blocks, const PieceOfWindows& piece, std::int64_t row,
                                std::int64_t column, const float* picture, float* points) {
  const LanesOfBlock d;
  for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
    VecOfBlock rows[taps_down + 1][taps_across + 1];
#pragma GCC unroll 4
    for (int c = 0; c <= taps_across; ++c) {
      VecOfBlock x[taps_down + 1], made[taps_down + 1];
#pragma GCC unroll 4
      for (int r = 0; r <= taps_down; ++r) {
        const std::int64_t at_row = row + r * blocks.row_stride,
                           at_column = column + c * blocks.column_stride;
        const bool there =
            inside || (at_row >= 0 && at_row < blocks.rows && at_column >= 0 && at_column < blocks.columns);
        x[r] =
            there ? hn::Load(d, picture + (at_row * blocks.columns + at_column) * width + lane) : hn::Zero(d);
      }
      points_along<taps_down>(x, made);
#pragma GCC unroll 4
      for (int r = 0; r <= taps_down; ++r) rows[r][c] = made[r];
    }
#pragma GCC unroll 4
    for (int r = 0; r <= taps_down; ++r) {
      VecOfBlock made[taps_across + 1];
      points_along<taps_across>(rows[r], made);
#pragma GCC unroll 4
      for (int c = 0; c <= taps_across; ++c) {
        const int point = 4 * PieceOfWindows::along(taps_down, r) + PieceOfWindows::along(taps_across, c);
        hn::Store(made[c], d, points + piece.at[point] + lane);
      }
    }
  }
}

// The other way: what the points of a piece say of the elements that it reads.
template <int taps>
HWY_INLINE void elements_along(const VecOfBlock (&points)[taps + 1], VecOfBlock (&x)[taps + 1]) {
  if constexpr (taps == 1) {
    x[0] = points[0];
    x[1] = points[1];
  } else if constexpr (taps == 2) {
    x[0] = points[0];
    x[1] = hn::Sub(points[1], hn::Add(points[0], points[2]));
    x[2] = points[2];
  } else {
    x[0] = points[0];
    x[1] = hn::Sub(hn::Sub(points[1], points[2]), points[3]);
    x[2] = hn::Sub(hn::Add(points[1], points[2]), points[0]);
    x[3] = points[3];
  }
}

// Adds to the picture.
template <int taps_down, int taps_across, bool inside>
HWY_INLINE void gradients_of_block(const BlocksOfFour& blocks, const PieceOfWindows& piece, std::int64_t row,
                                   std::int64_t column, const float* points, float* picture) {
  const LanesOfBlock d;
  for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
    VecOfBlock rows[taps_down + 1][taps_across + 1];
#pragma GCC unroll 4
    for (int c = 0; c <= taps_across; ++c) {
      VecOfBlock from[taps_down + 1], x[taps_down + 1];
#pragma GCC unroll 4
      for (int r = 0; r <= taps_down; ++r) {
        const int point = 4 * PieceOfWindows::along(taps_down, r) + PieceOfWindows::along(taps_across, c);
        from[r] = hn::Load(d, points + piece.at[point] + lane);
      }
      elements_along<taps_down>(from, x);
#pragma GCC unroll 4
      for (int r = 0; r <= taps_down; ++r) rows[r][c] = x[r];
    }
#pragma GCC unroll 4
    for (int r = 0; r <= taps_down; ++r) {
      VecOfBlock x[taps_across + 1];
      elements_along<taps_across>(rows[r], x);
#pragma GCC unroll 4
      for (int c = 0; c <= taps_across; ++c) {
        const std::int64_t at_row = row + r * blocks.row_stride,
                           at_column = column + c * blocks.column_stride;
        if (!inside && (at_row < 0 || at_row >= blocks.rows || at_column < 0 || at_column >= blocks.columns))
          continue;
        float* const to = picture + (at_row * blocks.columns + at_column) * width + lane;
        hn::Store(hn::Add(hn::Load(d, to), x[c]), d, to);
      }
    }
  }
}

// visit(row, column, block, whether all is inside the picture): where each block's first result reads the
// first of so many taps.
template <int taps_down, int taps_across, typename Visit>
HWY_INLINE void each_block(const BlocksOfFour& blocks, const PieceOfWindows& piece, const Visit& visit) {
  BlockPlace place(blocks);
  for (std::int64_t i = 0; i < blocks.count; ++i, place.next(blocks)) {
    const std::int64_t row = place.row * blocks.row_stride + piece.row - blocks.top,
                       column = place.column * blocks.column_stride + piece.column - blocks.left;
    visit(row, column, i,
          row >= 0 && column >= 0 && row + taps_down * blocks.row_stride < blocks.rows &&
              column + taps_across * blocks.column_stride < blocks.columns);
  }
}

// Of one channel.
template <int taps_down, int taps_across>
void points_of_piece(const BlocksOfFour& blocks, const PieceOfWindows& piece, const float* picture,
                     float* points) {
  each_block<taps_down, taps_across>(
      blocks, piece, [&](std::int64_t row, std::int64_t column, std::int64_t i, bool inside) HWY_ATTR {
        if (inside)
          points_of_block<taps_down, taps_across, true>(blocks, piece, row, column, picture,
                                                        points + i * width);
        else
          points_of_block<taps_down, taps_across, false>(blocks, piece, row, column, picture,
                                                         points + i * width);
      });
}
template <int taps_down, int taps_across>
void gradients_of_piece(const BlocksOfFour& blocks, const PieceOfWindows& piece, float* picture,
                        const float* points) {
  each_block<taps_down, taps_across>(
      blocks, piece, [&](std::int64_t row, std::int64_t column, std::int64_t i, bool inside) HWY_ATTR {
        if (inside)
          gradients_of_block<taps_down, taps_across, true>(blocks, piece, row, column, points + i * width,
                                                           picture);
        else
          gradients_of_block<taps_down, taps_across, false>(blocks, piece, row, column, points + i * width,
                                                            picture);
      });
}

template <typename From, typename To>
using OfPiece = void (*)(const BlocksOfFour&, const PieceOfWindows&, From*, To*);
constexpr OfPiece<const float, float> points_of_pieces[3][3] = {
    {points_of_piece<1, 1>, points_of_piece<1, 2>, points_of_piece<1, 3>},
    {points_of_piece<2, 1>, points_of_piece<2, 2>, points_of_piece<2, 3>},
    {points_of_piece<3, 1>, points_of_piece<3, 2>, points_of_piece<3, 3>}};
constexpr OfPiece<float, const float> gradients_of_pieces[3][3] = {
    {gradients_of_piece<1, 1>, gradients_of_piece<1, 2>, gradients_of_piece<1, 3>},
    {gradients_of_piece<2, 1>, gradients_of_piece<2, 2>, gradients_of_piece<2, 3>},
    {gradients_of_piece<3, 1>, gradients_of_piece<3, 2>, gradients_of_piece<3, 3>}};

// The 4 x 4 points of a block's gradients.
HWY_INLINE void points_of_gradients(const BlocksOfFour& blocks, const BlockPlace& place,
                                    std::int64_t point_step, const float* picture, float* points) {
  const LanesOfBlock d;
  const bool more_rows = place.row + 1 < blocks.rows_out,
             more_columns = place.column + 1 < blocks.columns_out;
  for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
    VecOfBlock rows[4][2];
#pragma GCC unroll 2
    for (int c = 0; c < 2; ++c) {
      const float* const from = picture + (place.row * blocks.columns_out + place.column + c) * width + lane;
      const bool there = c == 0 || more_columns;
      const VecOfBlock first = there ? hn::Load(d, from) : hn::Zero(d),
                       second =
                           there && more_rows ? hn::Load(d, from + blocks.columns_out * width) : hn::Zero(d);
      rows[0][c] = first;
      rows[1][c] = hn::Add(first, second);
      rows[2][c] = hn::Sub(first, second);
      rows[3][c] = second;
    }
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      float* const to = points + 4 * r * point_step + lane;
      hn::Store(rows[r][0], d, to);
      hn::Store(hn::Add(rows[r][0], rows[r][1]), d, to + point_step);
      hn::Store(hn::Sub(rows[r][0], rows[r][1]), d, to + 2 * point_step);
      hn::Store(rows[r][1], d, to + 3 * point_step);
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
      rows[1][c] = hn::Add(hn::Sub(second, third), hn::Load(d, from + 12 * point_step));
    }
    VecOfBlock all_finite = hn::Load(d, finite + lane);
    const VecOfBlock start = hn::Set(d, bias);
#pragma GCC unroll 2
    for (int r = 0; r < 2; ++r) {
      if (r == 1 && !more_rows) break;
      float* const to = picture + ((place.row + r) * blocks.columns_out + place.column) * width + lane;
      const VecOfBlock left = hn::Add(rows[r][0], hn::Add(rows[r][1], rows[r][2])),
                       right = hn::Add(hn::Sub(rows[r][1], rows[r][2]), rows[r][3]);
      all_finite = finished(d, hn::Add(left, start), finish, all_finite, to);
      if (more_columns) all_finite = finished(d, hn::Add(right, start), finish, all_finite, to + width);
    }
    hn::Store(all_finite, d, finite + lane);
  }
}

}  // namespace

void points_entry(const BlocksOfFour& blocks, std::span<const PieceOfWindows> pieces, std::int64_t channels,
                  const float* operand, float* points) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const float* const picture = operand + c * blocks.rows * blocks.columns * width;
    for (const PieceOfWindows& piece : pieces)
      points_of_pieces[piece.rows - 1][piece.columns - 1](blocks, piece, picture,
                                                          points + c * blocks.count * width);
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

void points_back_entry(const BlocksOfFour& blocks, std::int64_t units, std::int64_t point_step,
                       const float* gradients, float* points) {
  for (std::int64_t u = 0; u < units; ++u) {
    const float* const picture = gradients + u * blocks.rows_out * blocks.columns_out * width;
    BlockPlace place(blocks);
    for (std::int64_t i = 0; i < blocks.count; ++i, place.next(blocks))
      points_of_gradients(blocks, place, point_step, picture, points + (u * blocks.count + i) * width);
  }
}

void gradients_entry(const BlocksOfFour& blocks, std::span<const PieceOfWindows> pieces,
                     std::int64_t channels, const float* points, float* gradients) {
  for (std::int64_t c = 0; c < channels; ++c) {
    float* const picture = gradients + c * blocks.rows * blocks.columns * width;
    for (const PieceOfWindows& piece : pieces)
      gradients_of_pieces[piece.rows - 1][piece.columns - 1](blocks, piece, picture,
                                                             points + c * blocks.count * width);
  }
}

void note_finite_entry(std::int64_t elements, const float* values, float* finite) {
  const LanesOfBlock d;
  for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
    VecOfBlock sums[4] = {hn::Load(d, finite + lane), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (std::int64_t i = 0; i < elements; ++i)
      sums[i % 4] = hn::MulAdd(hn::Load(d, values + i * width + lane), hn::Zero(d), sums[i % 4]);
    hn::Store(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])), d, finite + lane);
  }
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(points_entry);
HWY_EXPORT(results_entry);
HWY_EXPORT(points_back_entry);
HWY_EXPORT(gradients_entry);
HWY_EXPORT(note_finite_entry);

void points_of_operand(const BlocksOfFour& blocks, std::span<const PieceOfWindows> pieces,
                       std::int64_t channels, const float* operand, float* points) {
  HWY_DYNAMIC_DISPATCH(points_entry)(blocks, pieces, channels, operand, points);
}
void results_of_points(const BlocksOfFour& blocks, std::int64_t units, std::int64_t point_step,
                       const float* points, const float* bias, Finish finish, float* finite, float* result) {
  HWY_DYNAMIC_DISPATCH(results_entry)(blocks, units, point_step, points, bias, finish, finite, result);
}
void points_of_gradients(const BlocksOfFour& blocks, std::int64_t units, std::int64_t point_step,
                         const float* gradients, float* points) {
  HWY_DYNAMIC_DISPATCH(points_back_entry)(blocks, units, point_step, gradients, points);
}
void gradients_of_points(const BlocksOfFour& blocks, std::span<const PieceOfWindows> pieces,
                         std::int64_t channels, const float* points, float* gradients) {
  HWY_DYNAMIC_DISPATCH(gradients_entry)(blocks, pieces, channels, points, gradients);
}
void note_finite(std::int64_t elements, const float* values, float* finite) {
  HWY_DYNAMIC_DISPATCH(note_finite_entry)(elements, values, finite);
}

}  // namespace assay::lanes
#endif
