// The loop of convolutions and dense layers: a block of units by a block of positions stays in registers
// while all weights of the block pass by, each read once as a number for all lanes.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_linear.cpp"
#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::lanes::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes16 = hn::CappedTag<float, width>;
using Vec = hn::Vec<Lanes16>;

// Accumulators that leave registers for operands: 32 registers with AVX-512 and on ARM, otherwise 16.
#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2
constexpr int accumulators = 12;
#else
constexpr int accumulators = 24;
#endif
constexpr int wide = accumulators / static_cast<int>(unit_block) * static_cast<int>(unit_block);
constexpr int places_beside(int units) {
  constexpr int most = 12;
  const int places = accumulators / units;
  return places < 1 ? 1 : places > most ? most : places;
}

struct Task {
  const LinearMap* map;
  const Pattern* pattern;
  const float* operand;
  const float* weights;  // of this block of units
  const float* bias;     // of this block; may be null
  float* result;         // of this block
  Finish finish;
  bool add;
};

constexpr int most_beside(int units) { return units < unit_block ? units : static_cast<int>(unit_block); }

// `units` of `units` / `unit_block` neighbouring blocks, or of one, whose weights lie `beside` each other.
template <int units, int places, int beside = most_beside(units)>
HWY_INLINE void block(const Task& task, const WindowPlace* at) {
  const Lanes16 d;
  const LinearMap& map = *task.map;
  const std::int64_t next_block = map.outer * map.inner * unit_block;
  for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
    Vec sums[units][places];
    const float* from[places];
    for (int p = 0; p < places; ++p) from[p] = task.operand + at[p].from + lane;
#pragma GCC unroll 24
    for (int u = 0; u < units; ++u) {
      const Vec start = task.bias ? hn::Set(d, task.bias[u]) : hn::Zero(d);
#pragma GCC unroll 12
      for (int p = 0; p < places; ++p) sums[u][p] = start;
    }
    const float* weights = task.weights;
    const WindowTap* const first = task.pattern->taps.data();
    const WindowTap* const last = first + task.pattern->taps.size();
    for (std::int64_t c = 0; c < map.outer; ++c, weights += map.inner * beside) {
      for (const WindowTap* tap = first; tap != last; ++tap) {
        Vec x[places];
#pragma GCC unroll 12
        for (int p = 0; p < places; ++p) x[p] = hn::Load(d, from[p] + tap->offset);
        const float* const weight = weights + tap->weight * beside;
#pragma GCC unroll 24
        for (int u = 0; u < units; ++u) {
          const Vec w = hn::Set(d, weight[u / beside * next_block + u % beside]);
#pragma GCC unroll 12
          for (int p = 0; p < places; ++p) sums[u][p] = hn::MulAdd(w, x[p], sums[u][p]);
        }
      }
#pragma GCC unroll 12
      for (int p = 0; p < places; ++p) from[p] += map.outer_step;
    }
#pragma GCC unroll 24
    for (int u = 0; u < units; ++u) {
#pragma GCC unroll 12
      for (int p = 0; p < places; ++p) {
        float* const to = task.result + u * map.unit_step + at[p].to + lane;
        Vec sum = sums[u][p];
        if (task.add) sum = hn::Add(sum, hn::Load(d, to));
        // Not a maximum: that may drop a NaN.
        if (task.finish == Finish::rectify) sum = hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), hn::Zero(d), sum);
        hn::Store(sum, d, to);
      }
    }
  }
}

// All places from `next` up to `end` for a block of units: so many at a time, then half as many for the rest.
template <int units, int beside = most_beside(units), int places = places_beside(units)>
void blocks(const Task& task, const WindowPlace* next, const WindowPlace* end) {
  for (; end - next >= places; next += places) block<units, places, beside>(task, next);
  if constexpr (places > 1) {
    constexpr int half = (places + 1) / 2;
    if (next != end) blocks<units, beside, half>(task, next, end);
  }
}

// The same for a whole block. Where few registers leave one place to all its units, each half of them, with
// more places, reads less for a product.
void whole_blocks(const Task& task, const WindowPlace* next, const WindowPlace* end) {
  constexpr int units = unit_block, half = units / 2;
  if constexpr (places_beside(units) > 1) {
    blocks<units>(task, next, end);
  } else {
    Task second = task;
    second.weights += half;
    if (second.bias) second.bias += half;
    second.result += half * task.map->unit_step;
    const WindowPlace* const last = end - (end - next) % places_beside(half);
    blocks<half, units>(task, next, last);
    blocks<half, units>(second, next, last);
    blocks<units>(task, last, end);
  }
}

void linear(const LinearMap& map, const float* operand, const float* weights, const float* bias,
            Finish finish, bool add, float* result, const Neighbours& neighbours) {
  const std::int64_t count = map.outer * map.inner;
  constexpr std::int64_t together = places_beside(unit_block);
  // The one place of every batch block, for a loop over all of them.
  WindowPlace places[most_neighbours];
  const bool one = map.patterns.size() == 1 && map.patterns[0].places.size() == 1;
  for (std::int64_t n = 0; one && n < neighbours.count; ++n) {
    const WindowPlace& place = map.patterns[0].places[0];
    const auto at = static_cast<std::int32_t>(n * neighbours.step);
    places[n] = {place.from + at, place.to + at};
  }
  for (std::int64_t n = 0; n < (one ? 1 : neighbours.count); ++n) {
    for (const Pattern& pattern : map.patterns) {
      const WindowPlace* const first = one ? places : pattern.places.data();
      const std::int64_t all = one ? neighbours.count : std::ssize(pattern.places);
      // A block of positions meets all units before the next one, so that operands are read from far once.
      // Blocks hold a multiple of places for every number of units.
      constexpr std::int64_t range = 24 * together;
      for (std::int64_t p = 0; p < all; p += range) {
        const WindowPlace* const next = first + p;
        const WindowPlace* const end = first + (p + range < all ? p + range : all);
        for (std::int64_t u = 0; u < map.units;) {
          const Task task{&map,
                          &pattern,
                          operand + n * neighbours.step,
                          weights + u * count,
                          bias ? bias + u : nullptr,
                          result + n * neighbours.step + u * map.unit_step,
                          finish,
                          add};
          if (end - next == 1 && map.units - u >= wide) {  // dense layers: more units instead of places
            block<wide, 1>(task, next);
            u += wide;
            continue;
          }
          switch (map.units - u) {
            case 1:
              blocks<1>(task, next, end);
              break;
            case 2:
              blocks<2>(task, next, end);
              break;
            case 3:
              blocks<3>(task, next, end);
              break;
            case 4:
              blocks<4>(task, next, end);
              break;
            case 5:
              blocks<5>(task, next, end);
              break;
            case 6:
              blocks<6>(task, next, end);
              break;
            case 7:
              blocks<7>(task, next, end);
              break;
            default:
              whole_blocks(task, next, end);
          }
          u += unit_block;
        }
      }
    }
  }
}

}  // namespace

void linear_entry(const LinearMap& map, const float* operand, const float* weights, const float* bias,
                  Finish finish, bool add, float* result, const Neighbours& neighbours) {
  linear(map, operand, weights, bias, finish, add, result, neighbours);
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(linear_entry);

void apply(const LinearMap& map, const float* operand, const float* packed_weights, const float* bias,
           Finish finish, bool add, float* result, const Neighbours& neighbours) {
  HWY_DYNAMIC_DISPATCH(linear_entry)(map, operand, packed_weights, bias, finish, add, result, neighbours);
}

}  // namespace assay::lanes
#endif
