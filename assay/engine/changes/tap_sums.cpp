#include "assay/engine/changes/tap_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/changes/tap_sums.cpp"
#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::inline engine::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Neighbours = hn::CappedTag<float, tap_slack + 1>;
using Vec = hn::Vec<Neighbours>;

// So many vectors of positions stay in registers while the taps pass by.
template <int vectors>
HWY_INLINE void block(std::span<const ChangedTap> taps, float start, const float* from, float* sums) {
  const Neighbours d;
  const std::int64_t step = hn::Lanes(d);
  Vec sum[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) sum[v] = hn::Set(d, start);
  for (const ChangedTap& tap : taps) {
    const Vec by = hn::Set(d, tap.by);
    const float* const at = from + tap.offset;
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[v] = hn::MulAdd(by, hn::LoadU(d, at + v * step), sum[v]);
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) hn::StoreU(sum[v], d, sums + v * step);
}

}  // namespace

void sums_entry(std::span<const ChangedTap> taps, float start, std::int64_t positions, const float* from,
                float* sums) {
  constexpr int together = 8;
  const std::int64_t step = hn::Lanes(Neighbours());
  std::int64_t p = 0;
  for (; p + (together - 1) * step < positions; p += together * step)
    block<together>(taps, start, from + p, sums + p);
  for (; p < positions; p += step) block<1>(taps, start, from + p, sums + p);
}

}  // namespace assay::inline engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::inline engine {

HWY_EXPORT(sums_entry);

void sum_taps(std::span<const ChangedTap> taps, float start, std::int64_t positions, const float* from,
              float* sums) {
  HWY_DYNAMIC_DISPATCH(sums_entry)(taps, start, positions, from, sums);
}

}  // namespace assay::inline engine
#endif
