#pragma once

// The loops of the channels back end, compiled for every vector instruction set and chosen at run time.
// Records lie one after the other; in each, the channels of a position lie side by side, so that a vector
// holds as many channels as it has lanes.
//
// Every result is computed by the same operations in the same order for every record and thread, so results
// do not depend on how records are cut into batches. NaN and infinities travel.

#include <cstdint>
#include <span>
#include <vector>

#include "assay/engine/lanes/kernels.h"
#include "assay/engine/parameters.h"
#include "assay/support/memory.h"

namespace assay::channels {

// Neighbouring numbers of the operand that one product after the other reads.
struct Run {
  std::int32_t offset = 0, length = 0;
};

// result[r][u] = bias[u] + sum over k of weight[u][k] * operand[rows[r] + place of k], where the places of k
// are those of all runs in order: convolutions of padded pictures and dense layers.
struct LinearMap {
  std::vector<std::int32_t> rows;
  std::vector<std::vector<Run>> blocks;  // of k: each is summed for itself
  std::int64_t units = 0, result_step = 0;
  std::int64_t operand_step = 0;  // numbers that a further row reads anew, about
};
// Runs in blocks whose weights, of one panel, take 48 KiB.
std::vector<std::vector<Run>> in_blocks(std::span<const Run> runs);
// Weights [units][count] and a bias [units] in the order in which apply() reads them.
FloatBlock packed(std::int64_t units, std::int64_t count, const float* weights, const float* bias);
// The same of weights that lie otherwise: one of both steps is 1.
FloatBlock packed(std::int64_t units, std::int64_t count, const LaidWeights& weights, const float* bias);
// Rows [first, first + count) of the result.
void apply(const LinearMap& map, std::int64_t first, std::int64_t count, const float* operand,
           const float* packed_weights, float* result);

// The same of bytes, where the processor sums products of four of them: an operand without sign and weights
// with sign lie four in the place of a number, the map counts such places, and results are 32-bit whole
// numbers. Sums begin at `starts`, whole numbers as well, for whole vectors of units, instead of the packed
// bias. They are exact up to 65,536 products. REQUIRES has_byte_products().
bool has_byte_products();
void apply_bytes(const LinearMap& map, std::int64_t first, std::int64_t count, const float* operand,
                 const float* packed_weights, const float* starts, float* result);
// Bytes of numbers (byte - zero) scale. Returns whether all numbers are such.
bool to_bytes(std::int64_t count, const float* numbers, float scale, float zero, std::uint8_t* bytes);
// In place: sum u of each row of `count` becomes sum scales[u] + shifts[u].
void whole_to_numbers(std::int64_t rows, std::int64_t count, const float* scales, const float* shifts,
                      float* sums);

// Windows that each channel is read through by itself: operand[rows[r] + taps[t] + channel].
struct WindowMap {
  std::vector<std::int32_t> rows, taps;
  std::int64_t channels = 0;
};
// `weights` [taps][channels], `bias` [channels].
void convolve(const WindowMap& map, std::int64_t rows, const float* operand, const float* weights,
              const float* bias, float* result);

// Pools: row r reads operand[offsets[i] + channel] for i from begins[r] to before begins[r + 1].
enum class Pool { greatest, sum };
struct PoolMap {
  Pool kind = Pool::greatest;
  std::vector<std::int32_t> offsets, begins;
  std::vector<float> factors;  // per row: what a sum is multiplied with
  std::int64_t channels = 0;
};
void pool(const PoolMap& map, std::int64_t rows, const float* operand, float* result);
// Adds to `gradient_in`. The first of equal maxima takes all; sums do not read operand and result.
void pool_gradients(const PoolMap& map, std::int64_t rows, const float* operand, const float* result,
                    const float* gradient, float* gradient_in);

// Two operands of `outer` rows of `inner` numbers. Steps from row to row and, 0 or 1, from number to number.
struct PairMap {
  lanes::Binary kind = lanes::Binary::add;
  std::int64_t outer = 1, inner = 1;
  std::int64_t left_outer = 0, left_inner = 1, right_outer = 0, right_inner = 1;
};
void apply(const PairMap& map, const float* left, const float* right, float* result);

// Rows of `count` neighbours.
void softmax(std::int64_t rows, std::int64_t count, bool logarithm, const float* operand, float* result);
// result[r] = factor times the sum of the row.
void sums(std::int64_t rows, std::int64_t count, float factor, const float* operand, float* result);
// Mean 0 and variance 1 each, times `scale` and plus `shift`, which have `count` numbers.
void normalise(std::int64_t rows, std::int64_t count, float epsilon, const float* operand, const float* scale,
               const float* shift, float* result);
// What the gradients of the results say of the operand.
void softmax_gradients(std::int64_t rows, std::int64_t count, bool logarithm, const float* result,
                       const float* gradient, float* gradient_in);
void normalise_gradients(std::int64_t rows, std::int64_t count, float epsilon, const float* operand,
                         const float* scale, const float* gradient, float* gradient_in);

}  // namespace assay::channels
