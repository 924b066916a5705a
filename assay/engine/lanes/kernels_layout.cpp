// Between records one after the other and records in the lanes.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_layout.cpp"
#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::lanes::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;
using Four = hn::CappedTag<float, 4>;
using Vec = hn::Vec<Four>;

// Four vectors as the rows of a square, transposed.
HWY_INLINE void turn(Vec& a, Vec& b, Vec& c, Vec& e) {
  const Four d;
  const Vec low_ab = hn::InterleaveLower(d, a, b), high_ab = hn::InterleaveUpper(d, a, b);
  const Vec low_ce = hn::InterleaveLower(d, c, e), high_ce = hn::InterleaveUpper(d, c, e);
  a = hn::ConcatLowerLower(d, low_ce, low_ab);
  b = hn::ConcatUpperUpper(d, low_ce, low_ab);
  c = hn::ConcatLowerLower(d, high_ce, high_ab);
  e = hn::ConcatUpperUpper(d, high_ce, high_ab);
}
#endif

}  // namespace

void to_lanes_entry(const float* const* rows, std::int64_t elements, float* block) {
  std::int64_t e = 0;
#if HWY_TARGET != HWY_SCALAR
  const Four d;
  for (; e + 4 <= elements; e += 4) {
    for (std::int64_t r = 0; r < width; r += 4) {
      Vec v0 = hn::LoadU(d, rows[r] + e), v1 = hn::LoadU(d, rows[r + 1] + e),
          v2 = hn::LoadU(d, rows[r + 2] + e), v3 = hn::LoadU(d, rows[r + 3] + e);
      turn(v0, v1, v2, v3);
      float* const to = block + e * width + r;
      hn::Store(v0, d, to);
      hn::Store(v1, d, to + width);
      hn::Store(v2, d, to + 2 * width);
      hn::Store(v3, d, to + 3 * width);
    }
  }
#endif
  for (; e < elements; ++e) {
    for (std::int64_t r = 0; r < width; ++r) block[e * width + r] = rows[r][e];
  }
}

void from_lanes_entry(const float* block, std::int64_t elements, std::int64_t count, float* const* rows) {
  std::int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  const Four d;
  for (; r + 4 <= count; r += 4) {
    std::int64_t e = 0;
    for (; e + 4 <= elements; e += 4) {
      const float* const from = block + e * width + r;
      Vec v0 = hn::Load(d, from), v1 = hn::Load(d, from + width), v2 = hn::Load(d, from + 2 * width),
          v3 = hn::Load(d, from + 3 * width);
      turn(v0, v1, v2, v3);
      hn::StoreU(v0, d, rows[r] + e);
      hn::StoreU(v1, d, rows[r + 1] + e);
      hn::StoreU(v2, d, rows[r + 2] + e);
      hn::StoreU(v3, d, rows[r + 3] + e);
    }
    for (; e < elements; ++e) {
      for (std::int64_t k = r; k < r + 4; ++k) rows[k][e] = block[e * width + k];
    }
  }
#endif
  for (; r < count; ++r) {
    for (std::int64_t e = 0; e < elements; ++e) rows[r][e] = block[e * width + r];
  }
}

std::int64_t lanes_entry() {
  return static_cast<std::int64_t>(hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::CappedTag<float, width>()));
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(to_lanes_entry);
HWY_EXPORT(from_lanes_entry);
HWY_EXPORT(lanes_entry);

void to_lanes(const float* const* rows, std::int64_t elements, float* block) {
  HWY_DYNAMIC_DISPATCH(to_lanes_entry)(rows, elements, block);
}
void from_lanes(const float* block, std::int64_t elements, std::int64_t count, float* const* rows) {
  HWY_DYNAMIC_DISPATCH(from_lanes_entry)(block, elements, count, rows);
}
std::int64_t lanes_of_vector() { return HWY_DYNAMIC_DISPATCH(lanes_entry)(); }

}  // namespace assay::lanes
#endif
