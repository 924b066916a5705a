// Products of rows of the operand with packed weights: a tile of rows by units stays in registers while
// numbers of the rows and vectors of weights pass by.

#include "assay/engine/channels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/channels/kernels_linear.cpp"

#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "assay/array/transposed.h"
#include "assay/engine/channels/partial_vectors.h"
#include "assay/support/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace assay::channels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Size = std::int64_t;

// Accumulators that leave registers for a row of weights: 32 registers with AVX-512 and on ARM, otherwise 16.
constexpr int most_rows = 6;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2
constexpr int most_vectors = 2;
#else
constexpr int most_vectors = 4;
#endif

Size panel_entry() { return most_vectors * lanes(); }

// Rows of the operand and units of a panel that meet.
struct Meeting {
  const float* operand;
  const std::int32_t* rows;
  std::span<const Run> runs;
  const float *weights, *bias;  // without a bias to what the result holds
  float* result;
  Size result_step, units;
};

// What is summed: products of numbers.
struct Numbers {
  using Sum = Vector;
  static HWY_INLINE Sum from(Vector bits) { return bits; }
  static HWY_INLINE Vector bits(Sum sum) { return sum; }
  static HWY_INLINE Sum plus(Sum sum, Sum x, Sum y) { return hn::MulAdd(x, y, sum); }
};

#if HWY_TARGET <= HWY_AVX3
// Or of four bytes without sign with four with sign, as whole numbers, all in places of numbers. The
// instruction is newer than the set that these loops are compiled for.
struct Bytes {
  using Sum = hn::Vec<hn::RebindToSigned<Lanes>>;
  static HWY_INLINE Sum from(Vector bits) { return hn::BitCast(hn::RebindToSigned<Lanes>(), bits); }
  static HWY_INLINE Vector bits(Sum sum) { return hn::BitCast(Lanes(), sum); }
  static HWY_INLINE Sum plus(Sum sum, Sum x, Sum y) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(y.raw));
    return sum;
  }
};
#endif

template <class Products, int rows, int vectors>
void tile(const Meeting& at) {
  using Sum = typename Products::Sum;
  const Lanes d;
  const Size width = lanes();
  const std::size_t last = at.units - (vectors - 1) * width;
  Sum sums[rows][vectors];
  const float* from[rows];
#pragma GCC unroll 6
  for (int r = 0; r < rows; ++r) {
    from[r] = at.operand + at.rows[r];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const float* const held = at.result + r * at.result_step + v * width;
      sums[r][v] = Products::from(at.bias != nullptr ? hn::LoadU(d, at.bias + v * width)
                                  : v + 1 < vectors  ? hn::LoadU(d, held)
                                                     : load_first(held, last));
    }
  }
  const float* weights = at.weights;
  for (const Run& run : at.runs) {
    const float* numbers[rows];
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r) numbers[r] = from[r] + run.offset;
    for (Size k = 0; k < run.length; ++k, weights += vectors * width) {
      Sum y[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) y[v] = Products::from(hn::LoadU(d, weights + v * width));
#pragma GCC unroll 6
      for (int r = 0; r < rows; ++r) {
        const Sum x = Products::from(hn::Set(d, numbers[r][k]));
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sums[r][v] = Products::plus(sums[r][v], x, y[v]);
      }
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      float* const to = at.result + r * at.result_step + v * width;
      if (v + 1 < vectors)
        hn::StoreU(Products::bits(sums[r][v]), d, to);
      else
        store_first(Products::bits(sums[r][v]), to, last);
    }
  }
}

template <class Products, int rows, int vectors = most_vectors>
void tile_of_vectors(const Meeting& at) {
  if constexpr (vectors > 1) {
    if (at.units <= (vectors - 1) * lanes()) return tile_of_vectors<Products, rows, vectors - 1>(at);
  }
  tile<Products, rows, vectors>(at);
}

template <class Products, int rows = most_rows>
void tile_of_rows(Size live, const Meeting& at) {
  if constexpr (rows > 1) {
    if (live < rows) return tile_of_rows<Products, rows - 1>(live, at);
  }
  tile_of_vectors<Products, rows>(at);
}

Size length_of(std::span<const Run> runs) {
  Size length = 0;
  for (const Run& run : runs) length += run.length;
  return length;
}

// Floats of the packed panel of so many units, its bias in front.
Size packed_width(Size units) { return (units + lanes() - 1) / lanes() * lanes(); }

// Rows of the operand, of a result, and the block of k that begins after `before` numbers.
struct Block {
  Size first, rows, number, before, count;
};

// One panel of units meets all rows while its weights are near.
template <class Products>
void apply_panel(const LinearMap& map, const Block& block, Size unit, const float* operand,
                 const float* packed_weights, const float* starts, float* result) {
  const Size units = std::min(panel_entry(), map.units - unit), width = packed_width(units);
  const float* const panel = packed_weights + unit * (1 + block.count);  // those in front are full
  const float* const weights = panel + (1 + block.before) * width;
  const std::vector<Run>& runs = map.blocks[block.number];
  const float* const bias = block.number > 0 ? nullptr : starts != nullptr ? starts + unit : panel;
  for (Size r = block.first; r < block.first + block.rows; r += most_rows) {
    tile_of_rows<Products>(std::min<Size>(most_rows, block.first + block.rows - r),
                           {operand, map.rows.data() + r, runs, weights, bias,
                            result + r * map.result_step + unit, map.result_step, units});
  }
}

// What is larger, operand or result, passes by; the other one stays near.
template <class Products>
void apply_entry(const LinearMap& map, Size first, Size rows, const float* operand,
                 const float* packed_weights, const float* starts, float* result) {
  std::vector<Block> blocks;
  Size count = 0;
  for (const std::vector<Run>& runs : map.blocks) {
    blocks.push_back({first, rows, static_cast<Size>(blocks.size()), count, 0});
    count += length_of(runs);
  }
  for (Block& block : blocks) block.count = count;
  const Size wide = panel_entry();
  if (map.units > map.operand_step) {
    for (Size unit = 0; unit < map.units; unit += wide) {
      for (const Block& block : blocks)
        apply_panel<Products>(map, block, unit, operand, packed_weights, starts, result);
    }
  } else {
    for (const Block& block : blocks) {
      for (Size unit = 0; unit < map.units; unit += wide)
        apply_panel<Products>(map, block, unit, operand, packed_weights, starts, result);
    }
  }
}

}  // namespace

Size panel_width_entry() { return panel_entry(); }
Size lanes_entry() { return lanes(); }
void linear_entry(const LinearMap& map, Size first, Size count, const float* operand,
                  const float* packed_weights, float* result) {
  apply_entry<Numbers>(map, first, count, operand, packed_weights, nullptr, result);
}

#if HWY_TARGET <= HWY_AVX3
bool has_byte_products_entry() { return __builtin_cpu_supports("avx512vnni") != 0; }
void byte_products_entry(const LinearMap& map, Size first, Size count, const float* operand,
                         const float* packed_weights, const float* starts, float* result) {
  apply_entry<Bytes>(map, first, count, operand, packed_weights, starts, result);
}
bool to_bytes_entry(Size count, const float* numbers, float scale, float zero, std::uint8_t* bytes) {
  const Lanes d;
  const hn::Rebind<std::uint8_t, Lanes> to;
  const hn::RebindToSigned<Lanes> whole_lanes;
  const Vector by = hn::Set(d, 1 / scale), origin = hn::Set(d, zero), rounding = hn::Set(d, 0x1p-13F),
               least = hn::Zero(d), most = hn::Set(d, 255);
  auto good = hn::Eq(least, least);
  const auto converted = [&](Vector x) HWY_ATTR {
    const Vector place = hn::MulAdd(x, by, origin), whole = hn::Round(place);
    good = hn::And(good, hn::Le(hn::Abs(hn::Sub(place, whole)), rounding));  // false for NaN
    good = hn::And(good, hn::And(hn::Ge(whole, least), hn::Le(whole, most)));
    return hn::DemoteTo(to, hn::ConvertTo(whole_lanes, whole));
  };
  each_vector(
      count, [&](Size i) HWY_ATTR { hn::StoreU(converted(hn::LoadU(d, numbers + i)), to, bytes + i); },
      [&](Size i, std::size_t live) HWY_ATTR {
        HWY_ALIGN float first[16];
        HWY_ALIGN std::uint8_t last[16];
        std::fill_n(first, 16, numbers[i]);
        std::copy_n(numbers + i, live, first);
        hn::StoreU(converted(hn::Load(d, first)), to, last);
        std::copy_n(last, live, bytes + i);
      });
  return hn::AllTrue(d, good);
}
void whole_to_numbers_entry(Size rows, Size count, const float* scales, const float* shifts, float* sums) {
  const Lanes d;
  const auto number = [&](Vector sum, Vector scale, Vector shift)
                          HWY_ATTR { return hn::MulAdd(hn::ConvertTo(d, Bytes::from(sum)), scale, shift); };
  for (Size r = 0; r < rows; ++r, sums += count) {
    each_vector(
        count,
        [&](Size i) HWY_ATTR {
          hn::StoreU(number(hn::LoadU(d, sums + i), hn::LoadU(d, scales + i), hn::LoadU(d, shifts + i)), d,
                     sums + i);
        },
        [&](Size i, std::size_t live) HWY_ATTR {
          store_first(
              number(load_first(sums + i, live), load_first(scales + i, live), load_first(shifts + i, live)),
              sums + i, live);
        });
  }
}
#else
bool has_byte_products_entry() { return false; }
void byte_products_entry(const LinearMap&, Size, Size, const float*, const float*, const float*, float*) {}
bool to_bytes_entry(Size, const float*, float, float, std::uint8_t*) { return false; }
void whole_to_numbers_entry(Size, Size, const float*, const float*, float*) {}
#endif

}  // namespace assay::channels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::channels {

HWY_EXPORT(panel_width_entry);
HWY_EXPORT(lanes_entry);
HWY_EXPORT(linear_entry);
HWY_EXPORT(has_byte_products_entry);
HWY_EXPORT(byte_products_entry);
HWY_EXPORT(to_bytes_entry);
HWY_EXPORT(whole_to_numbers_entry);

std::vector<std::vector<Run>> in_blocks(std::span<const Run> runs) {
  // Sums that leave registers cost more than weights that come from the second-level cache one after the
  // other.
  constexpr std::int64_t near = 48 * 1024 / sizeof(float);
  const auto most = static_cast<std::int32_t>(near / HWY_DYNAMIC_DISPATCH(panel_width_entry)());
  std::vector<std::vector<Run>> blocks;
  std::int32_t free_places = 0;
  for (Run run : runs) {
    while (run.length > 0) {
      if (free_places == 0) {
        blocks.emplace_back();
        free_places = most;
      }
      const std::int32_t taken = std::min(free_places, run.length);
      blocks.back().push_back({run.offset, taken});
      free_places -= taken;
      run = {run.offset + taken, run.length - taken};
    }
  }
  return blocks;
}

FloatBlock packed(std::int64_t units, std::int64_t count, const float* weights, const float* bias) {
  return packed(units, count, LaidWeights{weights, count, 1}, bias);
}

FloatBlock packed(std::int64_t units, std::int64_t count, const LaidWeights& weights, const float* bias) {
  const std::int64_t wide = HWY_DYNAMIC_DISPATCH(panel_width_entry)(),
                     lanes = HWY_DYNAMIC_DISPATCH(lanes_entry)();
  const std::int64_t all = (units + lanes - 1) / lanes * lanes * (1 + count);
  FloatBlock panels = allocate_floats(static_cast<std::size_t>(all));
  const auto pack = [&](std::int64_t unit) {
    const std::int64_t live = std::min(wide, units - unit), width = (live + lanes - 1) / lanes * lanes;
    float* const panel = panels.get() + unit * (1 + count);  // all panels before it are wide
    if (live < width) std::fill_n(panel, (1 + count) * width, 0.0F);
    std::copy_n(bias + unit, live, panel);
    const float* const from = weights.at + unit * weights.unit_step;
    if (weights.input_step == 1) {
      array::write_transposed(live, count, weights.unit_step, from, width, panel + width);
      return;
    }
    for (std::int64_t k = 0; k < count; ++k)
      std::copy_n(from + k * weights.input_step, live, panel + (1 + k) * width);
  };
  constexpr std::int64_t worth_a_thread = 1 << 16;  // floats
  split_loop((units + wide - 1) / wide, worth_a_thread / ((1 + count) * wide) + 1,
             [&](std::size_t begin, std::size_t end) {
               for (std::size_t p = begin; p < end; ++p) pack(static_cast<std::int64_t>(p) * wide);
             });
  return panels;
}

void apply(const LinearMap& map, std::int64_t first, std::int64_t count, const float* operand,
           const float* packed_weights, float* result) {
  HWY_DYNAMIC_DISPATCH(linear_entry)(map, first, count, operand, packed_weights, result);
}

bool has_byte_products() { return HWY_DYNAMIC_DISPATCH(has_byte_products_entry)(); }
void apply_bytes(const LinearMap& map, std::int64_t first, std::int64_t count, const float* operand,
                 const float* packed_weights, const float* starts, float* result) {
  HWY_DYNAMIC_DISPATCH(byte_products_entry)(map, first, count, operand, packed_weights, starts, result);
}
bool to_bytes(std::int64_t count, const float* numbers, float scale, float zero, std::uint8_t* bytes) {
  return HWY_DYNAMIC_DISPATCH(to_bytes_entry)(count, numbers, scale, zero, bytes);
}
void whole_to_numbers(std::int64_t rows, std::int64_t count, const float* scales, const float* shifts,
                      float* sums) {
  HWY_DYNAMIC_DISPATCH(whole_to_numbers_entry)(rows, count, scales, shifts, sums);
}

}  // namespace assay::channels
#endif
