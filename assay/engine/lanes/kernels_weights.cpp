// Gradients with respect to weights: products of gradients and operands, summed over positions and records.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_weights.cpp"
#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::lanes::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes16 = hn::CappedTag<float, width>;
using Vec = hn::Vec<Lanes16>;

// What stays in registers: units by channels, or by vectors of a dense layer's inputs.
#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2
constexpr int most_channels = 1, dense_units = 4;
#else
constexpr int most_channels = 3, dense_units = 8;
#endif
constexpr int most_units = 8, most_vectors = 3;
constexpr std::int64_t taps_together = 32;

struct Task {
  const float *operand, *gradient;  // of the first channel and unit
  std::int64_t channel_step, unit_step;
};

// The products of one tap at some places, added to [units][channels] vectors.
template <int units, int channels>
HWY_NOINLINE void block(const Task& task, const WindowPlace* place, const WindowPlace* end, float* sums) {
  const Lanes16 d;
  const std::int64_t lanes = hn::Lanes(d);
  Vec held[units][channels];
#pragma GCC unroll 8
  for (int u = 0; u < units; ++u) {
#pragma GCC unroll 3
    for (int c = 0; c < channels; ++c) held[u][c] = hn::Load(d, sums + (u * channels + c) * lanes);
  }
  for (; place != end; ++place) {
    for (std::int64_t lane = 0; lane < width; lane += lanes) {
      Vec x[channels];
#pragma GCC unroll 3
      for (int c = 0; c < channels; ++c)
        x[c] = hn::Load(d, task.operand + c * task.channel_step + place->from + lane);
#pragma GCC unroll 8
      for (int u = 0; u < units; ++u) {
        const Vec gradient = hn::Load(d, task.gradient + u * task.unit_step + place->to + lane);
#pragma GCC unroll 3
        for (int c = 0; c < channels; ++c) held[u][c] = hn::MulAdd(gradient, x[c], held[u][c]);
      }
    }
  }
#pragma GCC unroll 8
  for (int u = 0; u < units; ++u) {
#pragma GCC unroll 3
    for (int c = 0; c < channels; ++c) hn::Store(held[u][c], d, sums + (u * channels + c) * lanes);
  }
}

using Block = void (*)(const Task&, const WindowPlace*, const WindowPlace*, float*);
template <int channels>
Block block_of(std::int64_t units) {
  constexpr Block all[] = {block<1, channels>, block<2, channels>, block<3, channels>, block<4, channels>,
                           block<5, channels>, block<6, channels>, block<7, channels>, block<8, channels>};
  return all[units - 1];
}
Block block_of(std::int64_t units, std::int64_t channels) {
  return channels == 1 ? block_of<1>(units) : channels == 2 ? block_of<2>(units) : block_of<3>(units);
}

// Rows of `units` by `vectors` neighbouring sums of a dense layer.
template <int units, int vectors>
HWY_NOINLINE void rows_block(const float* gradient, std::int64_t unit_step, const float* rows,
                             std::int64_t stride, bool add, float* result) {
  const Lanes16 d;
  const std::int64_t lanes = hn::Lanes(d);
  Vec held[units][vectors];
#pragma GCC unroll 8
  for (int u = 0; u < units; ++u) {
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v)
      held[u][v] = add ? hn::Load(d, result + u * stride + v * lanes) : hn::Zero(d);
  }
  for (std::int64_t r = 0; r < width; ++r) {
    Vec x[vectors];
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) x[v] = hn::Load(d, rows + r * stride + v * lanes);
#pragma GCC unroll 8
    for (int u = 0; u < units; ++u) {
      const Vec s = hn::Set(d, gradient[u * unit_step + r]);
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) held[u][v] = hn::MulAdd(s, x[v], held[u][v]);
    }
  }
#pragma GCC unroll 8
  for (int u = 0; u < units; ++u) {
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) hn::Store(held[u][v], d, result + u * stride + v * lanes);
  }
}

template <int vectors>
void rows_of_units(std::int64_t units, const float* gradient, std::int64_t unit_step, const float* rows,
                   std::int64_t stride, bool add, float* result) {
  const auto next = [&](auto some) HWY_ATTR {
    constexpr int together = decltype(some)::value;
    for (; units >= together; units -= together) {
      rows_block<together, vectors>(gradient, unit_step, rows, stride, add, result);
      gradient += together * unit_step;
      result += together * stride;
    }
  };
  next(std::integral_constant<int, dense_units>());
  next(std::integral_constant<int, 2>());
  next(std::integral_constant<int, 1>());
}

void window_sums(const WeightMap& map, const float* operand, const float* gradient, bool add, float* result) {
  const Lanes16 d;
  const std::int64_t lanes = hn::Lanes(d);
  const auto taps = std::ssize(map.taps);
  HWY_ALIGN float sums[taps_together * most_units * most_channels * width];
  for (std::int64_t u = 0; u < map.units; u += most_units) {
    const std::int64_t units = map.units - u < most_units ? map.units - u : most_units;
    for (std::int64_t c = 0; c < map.channels; c += most_channels) {
      const std::int64_t channels = map.channels - c < most_channels ? map.channels - c : most_channels;
      const Block work = block_of(units, channels);
      const Task task{operand + c * map.channel_step, gradient + u * map.unit_step, map.channel_step,
                      map.unit_step};
      const std::int64_t each = units * channels * lanes;
      for (std::int64_t first = 0; first < taps; first += taps_together) {
        const std::int64_t some = taps - first < taps_together ? taps - first : taps_together;
        for (std::int64_t i = 0; i < some * each; i += lanes) hn::Store(hn::Zero(d), d, sums + i);
        // Ranges are small, so that gradients and operands stay near while the taps pass by.
        for (std::int64_t s = 0; s < map.ranges; ++s) {
          for (std::int64_t t = 0; t < some; ++t) {
            const WeightTap& tap = map.taps[first + t];
            const WindowPlace* const places = tap.places.data();
            const std::int32_t* const at = tap.ranges.data() + s;
            if (at[0] < at[1]) work(task, places + at[0], places + at[1], sums + t * each);
          }
        }
        for (std::int64_t i = 0; i < units * channels; ++i) {
          float* const to = result + (u + i / channels) * map.stride + (c + i % channels) * taps + first;
          for (std::int64_t t = 0; t < some; ++t) {
            const float sum = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, sums + t * each + i * lanes)));
            to[t] = add ? to[t] + sum : sum;
          }
        }
      }
    }
  }
}

}  // namespace

void weight_sums_entry(const WeightMap& map, const float* operand, const float* gradient, bool add,
                       float* result) {
  window_sums(map, operand, gradient, add, result);
}

void dense_sums_entry(std::int64_t units, std::int64_t unit_step, std::int64_t stride, const float* rows,
                      const float* gradient, bool add, float* result) {
  const std::int64_t lanes = hn::Lanes(Lanes16());
  std::int64_t k = 0;
  for (; k + most_vectors * lanes <= stride; k += most_vectors * lanes)
    rows_of_units<most_vectors>(units, gradient, unit_step, rows + k, stride, add, result + k);
  for (; k < stride; k += lanes)
    rows_of_units<1>(units, gradient, unit_step, rows + k, stride, add, result + k);
}

void element_sums_entry(std::int64_t units, std::int64_t unit_step, std::int64_t count, std::int64_t step,
                        const float* gradient, bool add, float* result) {
  const Lanes16 d;
  for (std::int64_t u = 0; u < units; ++u) {
    Vec sum = hn::Zero(d);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d)))
        sum = hn::Add(sum, hn::Load(d, gradient + u * unit_step + i * step + lane));
    }
    const float all = hn::GetLane(hn::SumOfLanes(d, sum));
    result[u] = add ? result[u] + all : all;
  }
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(weight_sums_entry);
HWY_EXPORT(dense_sums_entry);
HWY_EXPORT(element_sums_entry);

void weight_sums(const WeightMap& map, const float* operand, const float* gradient, bool add, float* result) {
  HWY_DYNAMIC_DISPATCH(weight_sums_entry)(map, operand, gradient, add, result);
}

void dense_sums(std::int64_t units, std::int64_t unit_step, std::int64_t stride, const float* rows,
                const float* gradient, bool add, float* result) {
  HWY_DYNAMIC_DISPATCH(dense_sums_entry)(units, unit_step, stride, rows, gradient, add, result);
}

void element_sums(std::int64_t units, std::int64_t unit_step, std::int64_t count, std::int64_t step,
                  const float* gradient, bool add, float* result) {
  HWY_DYNAMIC_DISPATCH(element_sums_entry)(units, unit_step, count, step, gradient, add, result);
}

}  // namespace assay::lanes
#endif
