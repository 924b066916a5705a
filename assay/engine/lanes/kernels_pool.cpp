// Windows of single channels: greatest and sum, and how gradients go back through them.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_pool.cpp"
#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::lanes::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes16 = hn::CappedTag<float, width>;
using Vec = hn::Vec<Lanes16>;

// visit(pattern number, place, offset of the channel's operand and result with the lanes)
template <typename Visit>
HWY_INLINE void each_place(const PoolMap& map, const Visit& visit) {
  const Lanes16 d;
  for (std::int64_t c = 0; c < map.channels; ++c) {
    for (std::size_t p = 0; p < map.patterns.size(); ++p) {
      for (const WindowPlace& place : map.patterns[p].places) {
        for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d)))
          visit(p, c * map.step_in + place.from + lane, c * map.step_out + place.to + lane);
      }
    }
  }
}

// The greater one; NaN where either is.
HWY_INLINE Vec greater(Vec best, Vec x) {
  return hn::IfThenElse(hn::Or(hn::Gt(x, best), hn::IsNaN(x)), x, best);
}

}  // namespace

void pool_max_entry(const PoolMap& map, const float* operand, float* result) {
  const Lanes16 d;
  each_place(map, [&](std::size_t p, std::int64_t from, std::int64_t to) HWY_ATTR {
    const std::vector<WindowTap>& taps = map.patterns[p].taps;
    Vec best = hn::Load(d, operand + from + taps[0].offset);
    for (std::size_t t = 1; t < taps.size(); ++t)
      best = greater(best, hn::Load(d, operand + from + taps[t].offset));
    hn::Store(best, d, result + to);
  });
}

void pool_sum_entry(const PoolMap& map, const float* operand, float* result) {
  const Lanes16 d;
  each_place(map, [&](std::size_t p, std::int64_t from, std::int64_t to) HWY_ATTR {
    Vec sum = hn::Zero(d);
    for (const WindowTap& tap : map.patterns[p].taps)
      sum = hn::Add(sum, hn::Load(d, operand + from + tap.offset));
    hn::Store(hn::Mul(sum, hn::Set(d, map.factors[p])), d, result + to);
  });
}

void pool_max_gradients_entry(const PoolMap& map, Ties ties, const float* operand, const float* result,
                              const float* gradient_out, float* gradient_in) {
  const Lanes16 d;
  each_place(map, [&](std::size_t p, std::int64_t from, std::int64_t to) HWY_ATTR {
    const std::vector<WindowTap>& taps = map.patterns[p].taps;
    const Vec best = hn::Load(d, result + to);
    const auto takes = [&](const WindowTap& tap) HWY_ATTR {
      const Vec x = hn::Load(d, operand + from + tap.offset);
      return hn::Or(hn::Eq(x, best), hn::IsNaN(x));
    };
    Vec share = hn::Load(d, gradient_out + to);
    if (ties == Ties::shared) {
      Vec count = hn::Zero(d);
      for (const WindowTap& tap : taps)
        count = hn::Add(count, hn::IfThenElseZero(takes(tap), hn::Set(d, 1.0F)));
      share = hn::Div(share, count);
    }
    for (const WindowTap& tap : taps) {
      const auto mine = takes(tap);
      float* const gradient = gradient_in + from + tap.offset;
      hn::Store(hn::Add(hn::Load(d, gradient), hn::IfThenElseZero(mine, share)), d, gradient);
      if (ties == Ties::first) share = hn::IfThenZeroElse(mine, share);
    }
  });
}

void pool_sum_gradients_entry(const PoolMap& map, const float* gradient_out, float* gradient_in) {
  const Lanes16 d;
  each_place(map, [&](std::size_t p, std::int64_t from, std::int64_t to) HWY_ATTR {
    const Vec share = hn::Mul(hn::Load(d, gradient_out + to), hn::Set(d, map.factors[p]));
    for (const WindowTap& tap : map.patterns[p].taps) {
      float* const gradient = gradient_in + from + tap.offset;
      hn::Store(hn::Add(hn::Load(d, gradient), share), d, gradient);
    }
  });
}

namespace {

// Four chains, so that rounding errors of sums stay small and no operation waits for the one before.
template <bool extremes>
HWY_INLINE void reduce_channel(std::int64_t positions, std::int64_t step, const float* from, Vec& sum,
                               Vec& greatest, Vec& least) {
  constexpr int chains = 4;
  const Lanes16 d;
  Vec sums[chains], high[chains], low[chains];
  for (int k = 0; k < chains; ++k) {
    sums[k] = hn::Zero(d);
    high[k] = low[k] = hn::Load(d, from);
  }
  const auto take = [&](std::int64_t i, int k) HWY_ATTR {
    const Vec x = hn::Load(d, from + i * step);
    sums[k] = hn::Add(sums[k], x);
    if constexpr (extremes) {
      high[k] = hn::Max(high[k], x);
      low[k] = hn::Min(low[k], x);
    }
  };
  std::int64_t i = 0;
  for (; i + chains <= positions; i += chains) {
    for (int k = 0; k < chains; ++k) take(i + k, k);
  }
  for (; i < positions; ++i) take(i, 0);
  sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  if constexpr (!extremes) return;
  greatest = hn::Max(hn::Max(high[0], high[1]), hn::Max(high[2], high[3]));
  least = hn::Min(hn::Min(low[0], low[1]), hn::Min(low[2], low[3]));
  // Maxima may drop a NaN, which the sum keeps.
  if (hn::AllFalse(d, hn::IsNaN(sum))) return;
  greatest = least = hn::Load(d, from);
  for (std::int64_t p = 1; p < positions; ++p) {
    const Vec x = hn::Load(d, from + p * step);
    greatest = greater(greatest, x);
    least = hn::Neg(greater(hn::Neg(least), hn::Neg(x)));
  }
}

}  // namespace

void reduce_entry(const ReduceMap& map, const float* operand, const Reductions& to) {
  const Lanes16 d;
  const Vec share = hn::Set(d, 1.0F / static_cast<float>(map.positions));
  const bool extremes = to.greatest != nullptr || to.least != nullptr;
  for (std::int64_t c = 0; c < map.channels; ++c) {
    for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
      const float* const from = operand + c * map.channel_step + lane;
      Vec sum = hn::Zero(d), greatest = sum, least = sum;
      if (extremes)
        reduce_channel<true>(map.positions, map.position_step, from, sum, greatest, least);
      else
        reduce_channel<false>(map.positions, map.position_step, from, sum, greatest, least);
      const std::int64_t at = c * width + lane;
      if (to.mean != nullptr) hn::Store(hn::Mul(sum, share), d, to.mean + at);
      if (to.greatest != nullptr) hn::Store(greatest, d, to.greatest + at);
      if (to.least != nullptr) hn::Store(least, d, to.least + at);
    }
  }
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(pool_max_entry);
HWY_EXPORT(pool_sum_entry);
HWY_EXPORT(pool_max_gradients_entry);
HWY_EXPORT(pool_sum_gradients_entry);
HWY_EXPORT(reduce_entry);

void pool_max(const PoolMap& map, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(pool_max_entry)(map, operand, result);
}
void pool_sum(const PoolMap& map, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(pool_sum_entry)(map, operand, result);
}
void pool_max_gradients(const PoolMap& map, Ties ties, const float* operand, const float* result,
                        const float* gradient_out, float* gradient_in) {
  HWY_DYNAMIC_DISPATCH(pool_max_gradients_entry)(map, ties, operand, result, gradient_out, gradient_in);
}
void pool_sum_gradients(const PoolMap& map, const float* gradient_out, float* gradient_in) {
  HWY_DYNAMIC_DISPATCH(pool_sum_gradients_entry)(map, gradient_out, gradient_in);
}
void reduce(const ReduceMap& map, const float* operand, const Reductions& to) {
  HWY_DYNAMIC_DISPATCH(reduce_entry)(map, operand, to);
}

}  // namespace assay::lanes
#endif
