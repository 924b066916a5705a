#pragma once

// Convolutions of 3 x 3 taps in blocks of 2 x 2 results with 16 products for 36, as lanes/winograd.h tells.
// Here products are those of matrices: at each of the 16 points, [blocks][channels] by [channels][units].

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/engine/channels/functions.h"
#include "assay/engine/channels/operators.h"
#include "assay/engine/channels/program.h"
#include "assay/engine/padding.h"

namespace assay::channels {

constexpr std::int64_t points_of_block = 16;

// Windows of 3 x 3 over pictures that lie with channels last, with zeros in front of rows and columns, or as
// many of them cut off. Blocks are numbered through rows, then through records.
struct BlockGrid {
  std::int64_t channels = 0, units = 0, rows = 0, columns = 0, top = 0, left = 0, rows_out = 0,
               columns_out = 0;

  std::int64_t across() const { return (columns_out + 1) / 2; }
  std::int64_t blocks() const { return (rows_out + 1) / 2 * across(); }  // of a record
  std::int64_t elements_in() const { return channels * rows * columns; }
  std::int64_t elements_out() const { return units * rows_out * columns_out; }
  // What a record takes, in products of vectors that are full.
  double products() const;
};

// Shapes are of a record. Nothing where the definition has fewer products, or the windows are others.
std::optional<BlockGrid> grid_of(const SlidingWindow& window, std::int64_t groups, const Shape& in,
                                 const Shape& out);
// Whether a node is kept to sums of all products (direct_sums.h); the same as above for the windows of
// others.
bool is_direct(const Node& node);
std::optional<BlockGrid> grid_of(const Node& node, const SlidingWindow& window, const Shape& in,
                                 const Shape& out);
bool pays(const BlockGrid& grid);

// Blocks [first, first + count) of the operand, to points[point][block - first][channel].
void points_of_blocks(const BlockGrid& grid, std::int64_t first, std::int64_t count, std::int64_t point_step,
                      const float* operand, float* points);
// From points[point][block - first][unit] to results. `finite`: 16 numbers for each record, which stay 0
// while all its results are finite.
void results_of_blocks(const BlockGrid& grid, std::int64_t first, std::int64_t count, std::int64_t point_step,
                       const float* points, const float* bias, float* finite, float* result);

// What a convolution multiplies with and what happens to its results.
struct Filters {
  std::vector<float> weights, bias;  // [units][9 taps][channels], [units]
  std::optional<Value> added = {};
  Finish finish = {};
};
// Operand and result lie with channels last, the latter in a buffer.
std::unique_ptr<Operation> with_fewer_products(const BlockGrid& grid, const Value& operand,
                                               const Value& result, const Filters& filters,
                                               std::int64_t records);

}  // namespace assay::channels
