// The first numbers of vectors, for every instruction set: to be included after hwy/foreach_target.h, hence
// the unusual guard. Nothing beyond them is read or written.

#if defined(ASSAY_CHANNELS_PARTIAL_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_CHANNELS_PARTIAL_VECTORS
#undef ASSAY_CHANNELS_PARTIAL_VECTORS
#else
#define ASSAY_CHANNELS_PARTIAL_VECTORS
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace assay::channels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Lanes>;

HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Lanes())); }

// Calls whole(i) for vectors of [0, count), then rest(i, live) for what is left.
template <typename Whole, typename Rest>
HWY_INLINE void each_vector(std::int64_t count, const Whole& whole, const Rest& rest) {
  std::int64_t i = 0;
  for (; i + lanes() <= count; i += lanes()) whole(i);
  if (i < count) rest(i, static_cast<std::size_t>(count - i));
}

// Zeros in the other lanes. Some processors take ten times as long for masked vectors, even for whole ones.
HWY_INLINE Vector load_first(const float* from, std::size_t count) {
  const Lanes d;
  if (count == hn::Lanes(d)) return hn::LoadU(d, from);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET <= HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN float lanes[16] = {};
  for (std::size_t i = 0; i < count; ++i) lanes[i] = from[i];
  return hn::Load(d, lanes);
#endif
}

HWY_INLINE void store_first(Vector x, float* to, std::size_t count) {
  const Lanes d;
  if (count == hn::Lanes(d)) return hn::StoreU(x, d, to);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET <= HWY_AVX3
  hn::BlendedStore(x, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN float lanes[16];
  hn::Store(x, d, lanes);
  for (std::size_t i = 0; i < count; ++i) to[i] = lanes[i];
#endif
}

}  // namespace assay::channels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
