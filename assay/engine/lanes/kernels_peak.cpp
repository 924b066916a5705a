// The processor's peak: products of registers with registers.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_peak.cpp"
#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

std::int64_t registers_entry(std::int64_t rounds) {
  // As many sums as hide how long a product takes; 13 registers are there with every instruction set.
  constexpr int chains = 12;
  const hn::CappedTag<float, width> d;
  const auto half = hn::Set(d, 0.5F);  // sums tend to 1
  hn::Vec<decltype(d)> sums[chains];
#pragma GCC unroll 12
  for (int c = 0; c < chains; ++c) sums[c] = hn::Set(d, static_cast<float>(c));  // equal ones would be one
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) sums[c] = hn::MulAdd(sums[c], half, half);
  }
  auto all = sums[0];
#pragma GCC unroll 12
  for (int c = 1; c < chains; ++c) all = hn::Add(all, sums[c]);
  // Reading a sum keeps the products from being left out.
  const bool made = hn::GetLane(all) > 0;
  return made ? rounds * chains * static_cast<std::int64_t>(hn::Lanes(d)) : 0;
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(registers_entry);

std::int64_t multiply_in_registers(std::int64_t rounds) {
  return HWY_DYNAMIC_DISPATCH(registers_entry)(rounds);
}

}  // namespace assay::lanes
#endif
