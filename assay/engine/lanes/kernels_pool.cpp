// Windows of single channels: greatest and sum, and how gradients go back through them.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_pool.cpp"
#include "assay/engine/lanes/targets.h"

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

void pool_max_slopes_entry(const PoolMap& map, Ties ties, const float* operand, const float* result,
                           const float* slope_out, float* slope_in) {
  const Lanes16 d;
  each_place(map, [&](std::size_t p, std::int64_t from, std::int64_t to) HWY_ATTR {
    const std::vector<WindowTap>& taps = map.patterns[p].taps;
    const Vec best = hn::Load(d, result + to);
    const auto takes = [&](const WindowTap& tap) HWY_ATTR {
      const Vec x = hn::Load(d, operand + from + tap.offset);
      return hn::Or(hn::Eq(x, best), hn::IsNaN(x));
    };
    Vec share = hn::Load(d, slope_out + to);
    if (ties == Ties::shared) {
      Vec count = hn::Zero(d);
      for (const WindowTap& tap : taps)
        count = hn::Add(count, hn::IfThenElseZero(takes(tap), hn::Set(d, 1.0F)));
      share = hn::Div(share, count);
    }
    for (const WindowTap& tap : taps) {
      const auto mine = takes(tap);
      float* const slope = slope_in + from + tap.offset;
      hn::Store(hn::Add(hn::Load(d, slope), hn::IfThenElseZero(mine, share)), d, slope);
      if (ties == Ties::first) share = hn::IfThenZeroElse(mine, share);
    }
  });
}

void pool_sum_slopes_entry(const PoolMap& map, const float* slope_out, float* slope_in) {
  const Lanes16 d;
  each_place(map, [&](std::size_t p, std::int64_t from, std::int64_t to) HWY_ATTR {
    const Vec share = hn::Mul(hn::Load(d, slope_out + to), hn::Set(d, map.factors[p]));
    for (const WindowTap& tap : map.patterns[p].taps) {
      float* const slope = slope_in + from + tap.offset;
      hn::Store(hn::Add(hn::Load(d, slope), share), d, slope);
    }
  });
}

void reduce_entry(Reduce kind, std::int64_t channels, std::int64_t positions, std::int64_t channel_step,
                  std::int64_t position_step, const float* operand, float* result) {
  const Lanes16 d;
  const Vec share = hn::Set(d, 1.0F / static_cast<float>(positions));
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
      const float* const from = operand + c * channel_step + lane;
      const auto at = [&](std::int64_t i) HWY_ATTR { return hn::Load(d, from + i * position_step); };
      Vec all;
      if (kind == Reduce::mean) {
        // Four sums, so that rounding errors stay small and additions do not wait for each other.
        Vec sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
        std::int64_t i = 0;
        for (; i + 4 <= positions; i += 4) {
          for (int k = 0; k < 4; ++k) sums[k] = hn::Add(sums[k], at(i + k));
        }
        for (; i < positions; ++i) sums[0] = hn::Add(sums[0], at(i));
        all = hn::Mul(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])), share);
      } else {
        all = at(0);
        for (std::int64_t i = 1; i < positions; ++i) {
          all =
              kind == Reduce::maximum ? greater(all, at(i)) : hn::Neg(greater(hn::Neg(all), hn::Neg(at(i))));
        }
      }
      hn::Store(all, d, result + c * width + lane);
    }
  }
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(pool_max_entry);
HWY_EXPORT(pool_sum_entry);
HWY_EXPORT(pool_max_slopes_entry);
HWY_EXPORT(pool_sum_slopes_entry);
HWY_EXPORT(reduce_entry);

void pool_max(const PoolMap& map, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(pool_max_entry)(map, operand, result);
}
void pool_sum(const PoolMap& map, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(pool_sum_entry)(map, operand, result);
}
void pool_max_slopes(const PoolMap& map, Ties ties, const float* operand, const float* result,
                     const float* slope_out, float* slope_in) {
  HWY_DYNAMIC_DISPATCH(pool_max_slopes_entry)(map, ties, operand, result, slope_out, slope_in);
}
void pool_sum_slopes(const PoolMap& map, const float* slope_out, float* slope_in) {
  HWY_DYNAMIC_DISPATCH(pool_sum_slopes_entry)(map, slope_out, slope_in);
}
void reduce(Reduce kind, std::int64_t channels, std::int64_t positions, std::int64_t channel_step,
            std::int64_t position_step, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(reduce_entry)(kind, channels, positions, channel_step, position_step, operand, result);
}

}  // namespace assay::lanes
#endif
