#pragma once

// The loops of the lanes back end, compiled for every vector instruction set and chosen at run time. All work
// on batch blocks: a value of a batch block is [elements][width] floats, 64-byte aligned, so that one vector
// holds the same element of as many records as it has lanes. Offsets of elements count floats: they are
// multiplied by `width` already.
//
// Every result is computed by the same operations in the same order for every batch block, lane and thread,
// so results do not depend on how records are cut into batches. NaN and infinities travel.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::lanes {

inline constexpr std::int64_t width = 16;  // records of a batch block

// Windows: positions of the result that read the operand at the same offsets.
struct WindowTap {
  std::int32_t offset = 0;  // from the position's place in the operand
  std::int32_t weight = 0;  // which weight of the kernel
};
struct WindowPlace {
  std::int32_t from = 0, to = 0;  // in a channel of the operand and of the result
};
struct Pattern {
  std::vector<WindowTap> taps;
  std::vector<WindowPlace> places;
};

enum class Finish { none, rectify };  // rectify: max(x, 0)

// result[u][to] = bias[u] + sum over c < outer and taps of weight[u][c * inner + tap.weight] *
//                 operand[c * outer_step + from + tap.offset], for u < units: convolutions, dense layers and
// their gradients.
struct LinearMap {
  std::vector<Pattern> patterns;
  std::int64_t outer = 1, outer_step = 0, inner = 0, units = 0, unit_step = 0;
};
// The order in which the loop reads weights. `weight(unit, k)` gives the weight for k = c * inner +
// tap.weight.
inline constexpr std::int64_t unit_block = 8;
template <typename Weight>
std::vector<std::int32_t> packed(std::int64_t units, std::int64_t count, const Weight& weight) {
  std::vector<std::int32_t> all;
  all.reserve(static_cast<std::size_t>(units * count));
  for (std::int64_t u = 0; u < units; u += unit_block) {
    for (std::int64_t k = 0; k < count; ++k) {
      for (std::int64_t i = u; i < units && i < u + unit_block; ++i)
        all.push_back(static_cast<std::int32_t>(weight(i, k)));
    }
  }
  return all;
}
// Where in that order the weight is.
inline std::int64_t packed_place(std::int64_t units, std::int64_t count, std::int64_t unit, std::int64_t k) {
  const std::int64_t first = unit / unit_block * unit_block, left = units - first;
  return first * count + k * (left < unit_block ? left : unit_block) + unit - first;
}
// Batch blocks whose memory lies `step` floats apart. Maps of one place read their weights once for all of
// them.
inline constexpr std::int64_t most_neighbours = 3;
struct Neighbours {
  std::int64_t count = 1, step = 0;
};
// `bias` may be null. `add`: to what the result holds. Operand and result are those of the first neighbour.
void apply(const LinearMap& map, const float* operand, const float* packed_weights, const float* bias,
           Finish finish, bool add, float* result, const Neighbours& neighbours = {});

// Blocks of 2 x 2 results of convolutions (winograd.h), `count` of them from `first` on, row by row. `top`
// and `left` zeros are in front of the operand's pictures.
struct BlocksOfFour {
  std::int64_t rows = 0, columns = 0, rows_out = 0, columns_out = 0, top = 0, left = 0;
  std::int64_t row_stride = 1, column_stride = 1;
  std::int64_t first = 0, count = 0;
};
// One to three rows and columns of a kernel's taps, a stride apart: they give as many points as results and
// taps need together.
struct PieceOfWindows {
  std::int64_t row = 0, column = 0;  // of the first tap
  int rows = 0, columns = 0;
  std::array<std::int64_t, 16> at{};  // by point: where the first channel's first block is

  // Which of the 4 x 4 points that results are made of.
  int point(int r, int c) const { return 4 * along(rows, r) + along(columns, c); }
  static constexpr int along(int taps, int i) { return i == taps ? 3 : i; }
};
// points[piece.at[p] + (c * count + block) * width], from [channels][rows][columns].
void points_of_operand(const BlocksOfFour& blocks, std::span<const PieceOfWindows> pieces,
                       std::int64_t channels, const float* operand, float* points);
// [units][rows_out][columns_out] from points[p][u][block], `point_step` floats from point to point. `finite`
// [width] becomes other than 0 in the lanes of results that are not.
void results_of_points(const BlocksOfFour& blocks, std::int64_t units, std::int64_t point_step,
                       const float* points, const float* bias, Finish finish, float* finite, float* result);

// The way back: points[p][u][block] of the gradients of results, and [channels][rows][columns], to which is
// added what points[piece.at[p] + (c * count + block) * width] say.
void points_of_gradients(const BlocksOfFour& blocks, std::int64_t units, std::int64_t point_step,
                         const float* gradients, float* points);
void gradients_of_points(const BlocksOfFour& blocks, std::span<const PieceOfWindows> pieces,
                         std::int64_t channels, const float* points, float* gradients);
// finite[lane] becomes other than 0 where one of the elements is not.
void note_finite(std::int64_t elements, const float* values, float* finite);

// The sums for the gradient with respect to a weight: where its tap meets operand and result.
struct WeightTap {
  std::vector<WindowPlace> places;
  std::vector<std::int32_t> ranges;  // of places: where each begins, and the end
};
struct WeightMap {
  std::vector<WeightTap> taps;  // by weight of the kernel
  std::int64_t ranges = 0, channels = 0, channel_step = 0, units = 0, unit_step = 0;
  std::int64_t stride = 0;  // of the result, from unit to unit
};
// result[u * stride + c * taps + t] = (or +=) gradient * operand, summed over the places of tap t and all
// lanes.
void weight_sums(const WeightMap& map, const float* operand, const float* gradient, bool add, float* result);
// The same for one position: result[u * stride + k] from `width` records of `stride` inputs each, one after
// the other. `stride` is a multiple of `width`.
void dense_sums(std::int64_t units, std::int64_t unit_step, std::int64_t stride, const float* rows,
                const float* gradient, bool add, float* result);
// result[u] = (or +=) the gradients of `count` elements, `step` floats apart, summed over all lanes.
void element_sums(std::int64_t units, std::int64_t unit_step, std::int64_t count, std::int64_t step,
                  const float* gradient, bool add, float* result);

// Windows of single channels. `step_in` and `step_out`: from channel to channel.
struct PoolMap {
  std::vector<Pattern> patterns;
  std::vector<float> factors;  // per pattern: what a sum is multiplied with
  std::int64_t channels = 0, step_in = 0, step_out = 0;
};
void pool_max(const PoolMap& map, const float* operand, float* result);
void pool_sum(const PoolMap& map, const float* operand, float* result);
// Which of equal maxima takes the gradient: the first, or all of them equal shares.
enum class Ties { first, shared };
// Adds to `gradient_in`.
void pool_max_gradients(const PoolMap& map, Ties ties, const float* operand, const float* result,
                        const float* gradient_out, float* gradient_in);
void pool_sum_gradients(const PoolMap& map, const float* gradient_out, float* gradient_in);

// Functions of one operand. `alpha` and `beta` as the ONNX operator of the name has them.
enum class Unary {
  absolute,
  arc_tangent,
  clip,  // to [alpha, beta]
  cube,
  dequantise,  // (x - beta) alpha
  elu,
  error,  // erf
  exponential,
  gelu,
  gelu_by_tanh,
  hard_sigmoid,
  hard_swish,
  leaky,
  logarithm,
  mish,  // x tanh(log(1 + exp(x)))
  negate,
  quantise,  // x / alpha, rounded to a whole number with halves to even, plus beta, within [low, high]
  reciprocal,
  rectify,
  selu,
  sigmoid,
  softplus,
  softsign,
  square,
  square_root,
  steps,  // quantise, then dequantise
  tanh,
};
struct UnaryFunction {
  Unary kind = Unary::rectify;
  float alpha = 0, beta = 0;
  float low = 0, high = 0;
};
void apply(const UnaryFunction& function, std::int64_t elements, const float* operand, float* result);
// The operand times the function.
void apply_gate(const UnaryFunction& function, std::int64_t elements, const float* operand, float* result);
// gradient_in = (or +=) gradient_out * derivative.
void gradients(const UnaryFunction& function, std::int64_t elements, const float* operand,
               const float* result, const float* gradient_out, bool add, float* gradient_in);

// The same with the result over the operand instead of the derivative; 1 where the operand is 0.
void ratio_gradients(std::int64_t elements, const float* operand, const float* result,
                     const float* gradient_out, bool add, float* gradient_in);
// gradient *= value / (value + epsilon sgn value), with sgn 0 = 1; 0 where that divides by 0.
void stabilise_gradients(std::int64_t elements, float epsilon, const float* value, float* gradient);

enum class Binary { add, subtract, multiply, divide, maximum, minimum };
// Element i of the result is made of element left_at[i] and right_at[i] of the operands (all of them in order
// where the lists are empty). An operand that `is_constant` has one number an element, the same for all
// records.
struct BinaryMap {
  Binary kind = Binary::add;
  std::int64_t elements = 0;
  std::vector<std::int32_t> left_at, right_at;
  bool left_constant = false, right_constant = false;
};
void apply(const BinaryMap& map, const float* left, const float* right, float* result);
// Adds to the gradient of the left (or else the right) operand. Of a maximum or minimum equal operands share.
void gradients(const BinaryMap& map, bool of_left, const float* left, const float* right,
               const float* gradient_out, float* gradient_in);

// Products of two computed matrices: result[place + r * result_row + c * result_column] = (or +=) the sum
// over i < inner of left[place + r * left_row + i * left_inner] * right[place + i * right_inner + c *
// right_column].
struct ProductPlace {
  std::int32_t left = 0, right = 0, result = 0;
};
struct ProductMap {
  std::vector<ProductPlace> places;  // of the matrices
  std::int64_t rows = 0, inner = 0, columns = 0;
  std::int64_t left_row = 0, left_inner = 0, right_inner = 0, right_column = 0, result_row = 0,
               result_column = 0;
};
void multiply(const ProductMap& map, const float* left, const float* right, bool add, float* result);

// Groups of neighbours with mean 0 and variance 1 each, times a scale and plus a shift of the element.
struct NormalisationMap {
  std::int64_t groups = 0, count = 0;  // elements of a group
  float epsilon = 0;                   // added to the variance
  std::vector<std::int32_t> scale_of;  // by element
};
void normalise(const NormalisationMap& map, const float* operand, const float* scale, const float* shift,
               float* result);
// gradient_in = (or +=) what the gradients of the result say of the operand.
void normalise_gradients(const NormalisationMap& map, const float* operand, const float* scale,
                         const float* gradient_out, bool add, float* gradient_in);
// products = gradient * the normalised operand.
void normal_products(const NormalisationMap& map, const float* operand, const float* gradient,
                     float* products);

void fill(std::int64_t elements, float value, float* target);
void add_to(std::int64_t elements, const float* source, float* target);

// Along an axis of `count` elements, `step` floats apart, beginning at each of `begins`.
struct AxisMap {
  std::vector<std::int32_t> begins;
  std::int64_t count = 0, step = 0;
};
void softmax(const AxisMap& map, bool logarithm, const float* operand, float* result);
void softmax_gradients(const AxisMap& map, bool logarithm, const float* result, const float* gradient_out,
                       float* gradient_in);

// Recurrent cells between the products of their gates. Gates lie one after the other, `hidden` elements each:
// of an LSTM input, output, forget, candidate; of a GRU update, reset, candidate; after their functions.
// cells = forget * before + input * candidate
void lstm_cells(std::int64_t hidden, const float* gates, const float* before, float* cells);
// Gates become their gradients (before their functions), the gradient of the cells that of the cells before.
// `squashed` is tanh(cells), `gradient` the state's.
void lstm_gradients(std::int64_t hidden, const float* before, const float* squashed, const float* gradient,
                    float* gradient_of_cells, float* gates);
// states = (1 - update) * candidate + update * before
void gru_states(std::int64_t hidden, const float* gates, const float* before, float* states);
// Update and candidate become their gradients; the state's gradient what goes to the state before at once.
void gru_gradients(std::int64_t hidden, const float* before, float* gradient, float* gates);
// Of reset * operand, whose gradient is given: the gate becomes its gradient and the operand its own.
void reset_gradients(std::int64_t hidden, const float* gradient, float* operand, float* reset);
// target += left * right
void multiply_add(std::int64_t elements, const float* left, const float* right, float* target);

// [channels][positions], so many floats apart.
struct ReduceMap {
  std::int64_t channels = 0, positions = 0, channel_step = 0, position_step = 0;
};
// Of the positions of each channel [channels]; null: not requested.
struct Reductions {
  float *mean = nullptr, *greatest = nullptr, *least = nullptr;
};
void reduce(const ReduceMap& map, const float* operand, const Reductions& to);

// `rows` are `width` records of `elements` floats each.
void to_lanes(const float* const* rows, std::int64_t elements, float* block);
// The first `count` records.
void from_lanes(const float* block, std::int64_t elements, std::int64_t count, float* const* rows);

// Floats of a vector of the instruction set in use.
std::int64_t lanes_of_vector();
// That many rounds of products of registers, as many as can overlap; returns the number of products.
std::int64_t multiply_in_registers(std::int64_t rounds);

}  // namespace assay::lanes
