// What convolutions with fewer products sum before and after their products (winograd.h): 4 x 4 positions of
// the operand to 16 points, 16 points to 2 x 2 results.

#include "assay/engine/channels/winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/channels/kernels_winograd.cpp"

#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "assay/engine/channels/partial_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace assay::channels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Size = std::int64_t;

// Where a block's results are.
struct BlockSpot {
  BlockSpot(const BlockGrid& grid, Size number)
      : record(number / grid.blocks()),
        row(number % grid.blocks() / grid.across() * 2),
        column(number % grid.across() * 2) {}
  void next(const BlockGrid& grid) {
    column += 2;
    if (column < grid.columns_out) return;
    column = 0;
    row += 2;
    if (row < grid.rows_out) return;
    row = 0;
    ++record;
  }
  Size record, row, column;
};

// The points of four numbers along an axis.
HWY_INLINE void points_along(const Vector (&x)[4], Vector (&made)[4]) {
  made[0] = hn::Sub(x[0], x[2]);
  made[1] = hn::Add(x[1], x[2]);
  made[2] = hn::Sub(x[2], x[1]);
  made[3] = hn::Sub(x[3], x[1]);
}

// load(row, column) gives a vector of channels, store(point, vector) takes one.
template <typename Load, typename Store>
HWY_INLINE void points_of_channels(const Load& load, const Store& store) {
  Vector rows[4][4];
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const Vector x[4] = {load(0, c), load(1, c), load(2, c), load(3, c)};
    Vector made[4];
    points_along(x, made);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) rows[r][c] = made[r];
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    Vector made[4];
    points_along(rows[r], made);
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) store(4 * r + c, made[c]);
  }
}

// place(row, column) is where channels begin; nullptr: outside of the picture.
template <typename Place>
HWY_INLINE void points_of_places(Size channels, Size point_step, const Place& place, float* points) {
  const Lanes d;
  each_vector(
      channels,
      [&](Size i) HWY_ATTR {
        points_of_channels(
            [&](int r, int c) HWY_ATTR {
              const float* const from = place(r, c);
              return from != nullptr ? hn::LoadU(d, from + i) : hn::Zero(d);
            },
            [&](int p, Vector x) HWY_ATTR { hn::StoreU(x, d, points + p * point_step + i); });
      },
      [&](Size i, std::size_t live) HWY_ATTR {
        points_of_channels(
            [&](int r, int c) HWY_ATTR {
              const float* const from = place(r, c);
              return from != nullptr ? load_first(from + i, live) : hn::Zero(d);
            },
            [&](int p, Vector x) HWY_ATTR { store_first(x, points + p * point_step + i, live); });
      });
}

HWY_INLINE void points_of_spot(const BlockGrid& grid, const BlockSpot& spot, Size point_step,
                               const float* operand, float* points) {
  const Size row = spot.row - grid.top, column = spot.column - grid.left;
  const float* const first =
      operand + spot.record * grid.elements_in() + (row * grid.columns + column) * grid.channels;
  const Size below = grid.columns * grid.channels, beside = grid.channels;
  if (row >= 0 && column >= 0 && row + 4 <= grid.rows && column + 4 <= grid.columns) {
    points_of_places(
        grid.channels, point_step, [&](int r, int c) HWY_ATTR { return first + r * below + c * beside; },
        points);
    return;
  }
  const float* places[4][4];
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) {
      const bool there = row + r >= 0 && row + r < grid.rows && column + c >= 0 && column + c < grid.columns;
      places[r][c] = there ? first + r * below + c * beside : nullptr;
    }
  }
  points_of_places(
      grid.channels, point_step, [&](int r, int c) HWY_ATTR { return places[r][c]; }, points);
}

// load(point) gives a vector of units, store(row, column, vector) takes one.
template <typename Load, typename Store>
HWY_INLINE void results_of_units(const Load& load, const Store& store) {
  Vector rows[2][4];
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const Vector second = load(4 + c), third = load(8 + c);
    rows[0][c] = hn::Add(load(c), hn::Add(second, third));
    rows[1][c] = hn::Add(hn::Sub(second, third), load(12 + c));
  }
#pragma GCC unroll 2
  for (int r = 0; r < 2; ++r) {
    store(r, 0, hn::Add(rows[r][0], hn::Add(rows[r][1], rows[r][2])));
    store(r, 1, hn::Add(hn::Sub(rows[r][1], rows[r][2]), rows[r][3]));
  }
}

HWY_INLINE void results_of_spot(const BlockGrid& grid, const BlockSpot& spot, Size point_step,
                                const float* points, const float* bias, float* finite, float* result) {
  const Lanes d;
  const Size below = grid.columns_out * grid.units, beside = grid.units;
  const bool more_rows = spot.row + 1 < grid.rows_out, more_columns = spot.column + 1 < grid.columns_out;
  const auto there = [&](int r, int c) { return (r == 0 || more_rows) && (c == 0 || more_columns); };
  Vector all_finite = hn::Zero(d);
  each_vector(
      grid.units,
      [&](Size i) HWY_ATTR {
        const Vector start = hn::LoadU(d, bias + i);
        results_of_units([&](int p) HWY_ATTR { return hn::LoadU(d, points + p * point_step + i); },
                         [&](int r, int c, Vector x) HWY_ATTR {
                           if (!there(r, c)) return;
                           const Vector made = hn::Add(x, start);
                           all_finite = hn::MulAdd(made, hn::Zero(d), all_finite);
                           hn::StoreU(made, d, result + r * below + c * beside + i);
                         });
      },
      [&](Size i, std::size_t live) HWY_ATTR {
        const Vector start = load_first(bias + i, live);
        results_of_units([&](int p) HWY_ATTR { return load_first(points + p * point_step + i, live); },
                         [&](int r, int c, Vector x) HWY_ATTR {
                           if (!there(r, c)) return;
                           const Vector made = hn::Add(x, start);
                           all_finite = hn::MulAdd(made, hn::Zero(d), all_finite);
                           store_first(made, result + r * below + c * beside + i, live);
                         });
      });
  hn::StoreU(hn::Add(hn::LoadU(d, finite), all_finite), d, finite);
}

}  // namespace

void points_of_blocks_entry(const BlockGrid& grid, Size first, Size count, Size point_step,
                            const float* operand, float* points) {
  BlockSpot spot(grid, first);
  for (Size b = 0; b < count; ++b, spot.next(grid))
    points_of_spot(grid, spot, point_step, operand, points + b * grid.channels);
}

void results_of_blocks_entry(const BlockGrid& grid, Size first, Size count, Size point_step,
                             const float* points, const float* bias, float* finite, float* result) {
  BlockSpot spot(grid, first);
  for (Size b = 0; b < count; ++b, spot.next(grid)) {
    results_of_spot(grid, spot, point_step, points + b * grid.units, bias, finite + spot.record * 16,
                    result + spot.record * grid.elements_out() +
                        (spot.row * grid.columns_out + spot.column) * grid.units);
  }
}

}  // namespace assay::channels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::channels {

HWY_EXPORT(points_of_blocks_entry);
HWY_EXPORT(results_of_blocks_entry);

void points_of_blocks(const BlockGrid& grid, std::int64_t first, std::int64_t count, std::int64_t point_step,
                      const float* operand, float* points) {
  HWY_DYNAMIC_DISPATCH(points_of_blocks_entry)(grid, first, count, point_step, operand, points);
}
void results_of_blocks(const BlockGrid& grid, std::int64_t first, std::int64_t count, std::int64_t point_step,
                       const float* points, const float* bias, float* finite, float* result) {
  HWY_DYNAMIC_DISPATCH(results_of_blocks_entry)
  (grid, first, count, point_step, points, bias, finite, result);
}

}  // namespace assay::channels
#endif
