// Weights of a few bits in blocks, each with a scale, as ONNX Runtime's quantisers write them (domain
// com.microsoft): products and tables of float32 weights.

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <assay/error.h>
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/upgrades/fused.h"

namespace assay::onnx_format {
namespace {

// Numbers of 2, 4 or 8 bits, the lowest bits of a byte first.
class PackedNumbers {
 public:
  PackedNumbers(std::span<const std::uint8_t> bytes, std::int64_t bits) : bytes_(bytes), bits_(bits) {}
  float operator[](std::int64_t i) const {
    const std::int64_t bit = i * bits_;
    const unsigned byte = bytes_[bit / 8];
    return static_cast<float>((byte >> (bit % 8)) & ((1U << bits_) - 1));
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::int64_t bits_;
};

// (A, B, scales, zero points, groups, bias): B [columns, blocks, bytes] holds a block of rows after the
// other.
void few_bits_product(Upgrade& u) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // elements, as files hold at most
  const std::int64_t rows = u.node.integer("K", 0), columns = u.node.integer("N", 0),
                     bits = u.node.integer("bits", 4), block = u.node.integer("block_size", 0);
  const ValueId a = needed(u, 0), bias = optional_input(u, 5);
  if (rows < 1 || columns < 1 || block < 1 || rows > most || columns > most || block > most ||
      rows * columns > most)
    fail(Fault::model, "{}: K {}, N {}, block_size {}", u.node.describe(), rows, columns, block);
  refuse(u, bits != 2 && bits != 4 && bits != 8, fmt::format("a number of {} bits", bits));
  const std::int64_t blocks = (rows + block - 1) / block, block_bytes = (block * bits + 7) / 8,
                     zero_bytes = (blocks * bits + 7) / 8;
  const auto known = [&](std::size_t input, std::initializer_list<DType> types, std::int64_t count) {
    const Array* array = u.graph.constant(needed(u, input));
    if (array == nullptr)
      fail(Fault::unsupported, "{}: input {} is computed; it has to be a constant", u.node.describe(), input);
    if (std::ranges::find(types, array->dtype()) == types.end() || array->count() != count)
      fail(Fault::model, "{}: input {} holds {} elements of {}; {} are needed", u.node.describe(), input,
           array->count(), to_string(array->dtype()), count);
    return array;
  };
  const Array *const packed = known(1, {DType::uint8}, columns * blocks * block_bytes), *const scales = known(
                                                                                            2,
                                                                                            {DType::float32},
                                                                                            columns * blocks);
  const Array* zeros = u.has_input(3) ? u.graph.constant(u.node.inputs[3]) : nullptr;
  const bool real_zeros = zeros != nullptr && zeros->dtype() == DType::float32;
  if (u.has_input(3))
    zeros = known(3, {DType::uint8, DType::float32}, columns * (real_zeros ? blocks : zero_bytes));
  const Array* groups = u.has_input(4) ? u.graph.constant(u.node.inputs[4]) : nullptr;
  refuse(u, u.has_input(4) && groups == nullptr, "a computed input 4");
  const Array places = groups == nullptr ? Array{} : groups->to(DType::int64);
  if (groups != nullptr && places.count() < rows)
    fail(Fault::model, "{}: {} groups for {} rows", u.node.describe(), places.count(), rows);
  std::vector<float> weights(rows * columns);
  for (std::int64_t n = 0; n < columns; ++n) {
    const auto bytes = packed->as<std::uint8_t>().subspan(n * blocks * block_bytes);
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::int64_t group = groups == nullptr ? k / block : places.elements<std::int64_t>()[k];
      if (group < 0 || group >= blocks)
        fail(Fault::model, "{}: row {} is of group {}; there are {}", u.node.describe(), k, group, blocks);
      const std::size_t at = n * blocks + group;
      float zero = static_cast<float>(1 << (bits - 1));
      if (real_zeros) {
        zero = zeros->as<float>()[at];
      } else if (zeros != nullptr) {
        zero = PackedNumbers(zeros->as<std::uint8_t>().subspan(n * zero_bytes), bits)[group];
      }
      const float number = PackedNumbers(bytes.subspan(k / block * block_bytes), bits)[k % block];
      weights[k * columns + n] = (number - zero) * scales->as<float>()[at];
    }
  }
  if (bias != no_value) u.after("biased", "Add", bias);
  u.node.inputs = {a, u.constant("weights", Array::of<float>({rows, columns}, weights))};
  u.node.op = "MatMul";
  u.node.attributes.clear();
}

const Array& known_constant(const Upgrade& u, std::size_t input) {
  const Array* const array = u.graph.constant(needed(u, input));
  if (array == nullptr)
    fail(Fault::unsupported, "{}: input {} is computed; it has to be a constant", u.node.describe(), input);
  return *array;
}

// Numbers that an array holds one by one, or in bytes of several.
std::vector<float> single_numbers(const Array& array, bool packed, std::int64_t bits, std::int64_t rows,
                                  std::int64_t columns) {
  std::vector<float> numbers(rows * columns);
  if (!packed) {
    const Array whole = array.to(DType::float32);
    std::ranges::copy(whole.as<float>(), numbers.begin());
    return numbers;
  }
  const std::int64_t width = (columns * bits + 7) / 8;
  for (std::int64_t row = 0; row < rows; ++row) {
    const PackedNumbers from(array.as<std::uint8_t>().subspan(row * width), bits);
    for (std::int64_t c = 0; c < columns; ++c) numbers[row * columns + c] = from[c];
  }
  return numbers;
}

// (table, rows to take, scales, zero points): blocks along the columns. Bytes hold numbers of `bits`.
void few_bits_table(Upgrade& u) {
  const Array &table = known_constant(u, 0), &scales = known_constant(u, 2);
  const std::int64_t bits = u.node.integer("bits", 4), block = u.node.integer("block_size", 128);
  const bool packed = u.graph.element_type(u.node.inputs[0]) == onnx::TensorProto::UINT8;
  refuse(u,
         table.rank() != 2 || scales.rank() != 2 || u.node.integer("gather_axis", 0) != 0 ||
             (u.node.integer("quantize_axis", 1) != 1 && u.node.integer("quantize_axis", 1) != -1),
         "a table that is not of rows with blocks of columns");
  refuse(u, bits != 4 && bits != 8, fmt::format("a number of {} bits", bits));
  const std::int64_t rows = table.size(0), columns = packed ? table.size(1) * 8 / bits : table.size(1);
  if (block < 1 || scales.size(0) != rows || scales.size(1) != (columns + block - 1) / block)
    fail(Fault::model, "{}: scales {} of a table {} in blocks of {}", u.node.describe(),
         to_string(scales.shape()), to_string(table.shape()), block);
  const std::int64_t blocks = scales.size(1);
  std::vector<float> zeros(rows * blocks, packed ? static_cast<float>(1 << (bits - 1)) : 0.0F);
  if (u.has_input(3)) {
    const Array& given = known_constant(u, 3);
    if (given.count() != rows * (packed ? (blocks * bits + 7) / 8 : blocks))
      fail(Fault::model, "{}: {} zero points", u.node.describe(), given.count());
    zeros = single_numbers(given, packed, bits, rows, blocks);
  }
  std::vector<float> numbers = single_numbers(table, packed, bits, rows, columns);
  const Array reals = scales.to(DType::float32);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const std::size_t of_block = i / columns * blocks + i % columns / block;
    float& number = numbers[i];
    number = (number - zeros[of_block]) * reals.as<float>()[of_block];
  }
  u.node.inputs = {u.constant("table", Array::of<float>({rows, columns}, numbers)), needed(u, 1)};
  u.node.attributes = {{"axis", std::int64_t{0}}};
  u.node.op = "Gather";
}

// What numbers of 4 bits stand for (Dettmers et al., QLoRA, 2023; the package bitsandbytes).
constexpr std::array<float, 16> four_bit_floats{
    0,    5.208333333e-03F,  0.66666667F,  1,  0.33333333F,  0.5F,  0.16666667F,  0.25F,
    -0.F, -5.208333333e-03F, -0.66666667F, -1, -0.33333333F, -0.5F, -0.16666667F, -0.25F};
constexpr std::array<float, 16> four_bit_normals{-1.0F,
                                                 -0.6961928009986877F,
                                                 -0.5250730514526367F,
                                                 -0.39491748809814453F,
                                                 -0.28444138169288635F,
                                                 -0.18477343022823334F,
                                                 -0.09105003625154495F,
                                                 0.0F,
                                                 0.07958029955625534F,
                                                 0.16093020141124725F,
                                                 0.24611230194568634F,
                                                 0.33791524171829224F,
                                                 0.44070982933044434F,
                                                 0.5626170039176941F,
                                                 0.7229568362236023F,
                                                 1.0F};

// (A, B, greatest magnitudes): the columns of the weights one after the other, two numbers a byte, the high
// bits first, in blocks that each have a greatest magnitude.
void product_of_four_bit_reals(Upgrade& u) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // elements, as files hold at most
  const std::int64_t rows = u.node.integer("K", 0), columns = u.node.integer("N", 0),
                     block = u.node.integer("block_size", 0), kind = u.node.integer("quant_type", 0);
  if (rows < 1 || columns < 1 || block < 1 || rows > most || columns > most || rows * columns > most ||
      block > most)
    fail(Fault::model, "{}: K {}, N {}, block_size {}", u.node.describe(), rows, columns, block);
  refuse(u, kind != 0 && kind != 1, fmt::format("quant_type {}", kind));
  refuse(u, u.node.integer("transB", 1) != 1, "weights that are not turned");
  const std::int64_t count = rows * columns;
  const Array &packed = known_constant(u, 1), &magnitudes = known_constant(u, 2);
  if (packed.dtype() != DType::uint8 || packed.count() != (count + 1) / 2 ||
      magnitudes.dtype() != DType::float32 || magnitudes.count() != (count + block - 1) / block)
    fail(Fault::model, "{}: {} bytes and {} magnitudes of {} numbers in blocks of {}", u.node.describe(),
         packed.count(), magnitudes.count(), count, block);
  const auto& table = kind == 0 ? four_bit_floats : four_bit_normals;
  std::vector<float> weights(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const unsigned byte = packed.elements<std::uint8_t>()[i / 2];
    weights[i % rows * columns + i / rows] =
        table[i % 2 == 0 ? byte >> 4 : byte & 15] * magnitudes.elements<float>()[i / block];
  }
  u.node.inputs = {needed(u, 0), u.constant("weights", Array::of<float>({rows, columns}, weights))};
  u.node.op = "MatMul";
  u.node.attributes.clear();
}

constexpr FusedRule rules_of_few_bits[] = {
    {"GatherBlockQuantized", few_bits_table},
    {"MatMulBnb4", product_of_four_bit_reals},
    {"MatMulNBits", few_bits_product},
};

}  // namespace

std::span<const FusedRule> few_bits_rules() { return rules_of_few_bits; }

}  // namespace assay::onnx_format
