// Normalisation by a record's own mean and variance.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_normalisation.cpp"
#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::lanes::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes16 = hn::CappedTag<float, width>;
using Vec = hn::Vec<Lanes16>;

// Over so many elements: value(i) is that of element i. In four sums, so that one does not wait for the last.
template <typename Value>
HWY_INLINE Vec mean_of(std::int64_t count, const Value& value) {
  const Lanes16 d;
  Vec sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) sums[k] = hn::Add(sums[k], value(i + k));
  }
  for (; i < count; ++i) sums[0] = hn::Add(sums[0], value(i));
  return hn::Mul(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])),
                 hn::Set(d, 1.0F / static_cast<float>(count)));
}

struct Moments {
  Vec mean, factor;  // factor: 1 / sqrt(variance + epsilon)
};
HWY_INLINE Moments moments_of(const NormalisationMap& map, const float* group) {
  const Lanes16 d;
  const Vec mean =
      mean_of(map.count, [&](std::int64_t i) HWY_ATTR { return hn::Load(d, group + i * width); });
  const Vec variance = mean_of(map.count, [&](std::int64_t i) HWY_ATTR {
    const Vec apart = hn::Sub(hn::Load(d, group + i * width), mean);
    return hn::Mul(apart, apart);
  });
  return {mean, hn::Div(hn::Set(d, 1), hn::Sqrt(hn::Add(variance, hn::Set(d, map.epsilon))))};
}

// work(place, scale, moments) for every group and vector of its records: where it begins, in floats and in
// the list of scales, and what it is normalised with.
template <typename Work>
HWY_INLINE void each_group(const NormalisationMap& map, const float* operand, const Work& work) {
  const std::int64_t step = hn::Lanes(Lanes16());
  for (std::int64_t g = 0; g < map.groups; ++g) {
    for (std::int64_t lane = 0; lane < width; lane += step) {
      const std::int64_t place = g * map.count * width + lane;
      work(place, map.scale_of.data() + g * map.count, moments_of(map, operand + place));
    }
  }
}

}  // namespace

void normalise_entry(const NormalisationMap& map, const float* operand, const float* scale,
                     const float* shift, float* result) {
  const Lanes16 d;
  each_group(map, operand, [&](std::int64_t place, const std::int32_t* of, const Moments& m) HWY_ATTR {
    for (std::int64_t i = 0; i < map.count; ++i) {
      const Vec apart = hn::Sub(hn::Load(d, operand + place + i * width), m.mean);
      hn::Store(hn::MulAdd(hn::Mul(apart, m.factor), hn::Set(d, scale[of[i]]), hn::Set(d, shift[of[i]])), d,
                result + place + i * width);
    }
  });
}

void normalise_gradients_entry(const NormalisationMap& map, const float* operand, const float* scale,
                               const float* gradient_out, bool add, float* gradient_in) {
  const Lanes16 d;
  each_group(map, operand, [&](std::int64_t place, const std::int32_t* of, const Moments& m) HWY_ATTR {
    const auto normal = [&](std::int64_t i) HWY_ATTR {
      return hn::Mul(hn::Sub(hn::Load(d, operand + place + i * width), m.mean), m.factor);
    };
    const auto scaled = [&](std::int64_t i) HWY_ATTR {
      return hn::Mul(hn::Load(d, gradient_out + place + i * width), hn::Set(d, scale[of[i]]));
    };
    const Vec level = mean_of(map.count, scaled);
    const Vec along =
        mean_of(map.count, [&](std::int64_t i) HWY_ATTR { return hn::Mul(scaled(i), normal(i)); });
    for (std::int64_t i = 0; i < map.count; ++i) {
      float* const to = gradient_in + place + i * width;
      const Vec gradient = hn::Mul(m.factor, hn::NegMulAdd(normal(i), along, hn::Sub(scaled(i), level)));
      hn::Store(add ? hn::Add(gradient, hn::Load(d, to)) : gradient, d, to);
    }
  });
}

void normal_products_entry(const NormalisationMap& map, const float* operand, const float* gradient,
                           float* products) {
  const Lanes16 d;
  each_group(map, operand, [&](std::int64_t place, const std::int32_t*, const Moments& m) HWY_ATTR {
    for (std::int64_t i = 0; i < map.count; ++i) {
      const std::int64_t at = place + i * width;
      const Vec normal = hn::Mul(hn::Sub(hn::Load(d, operand + at), m.mean), m.factor);
      hn::Store(hn::Mul(normal, hn::Load(d, gradient + at)), d, products + at);
    }
  });
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(normalise_entry);
HWY_EXPORT(normalise_gradients_entry);
HWY_EXPORT(normal_products_entry);

void normalise(const NormalisationMap& map, const float* operand, const float* scale, const float* shift,
               float* result) {
  HWY_DYNAMIC_DISPATCH(normalise_entry)(map, operand, scale, shift, result);
}
void normalise_gradients(const NormalisationMap& map, const float* operand, const float* scale,
                         const float* gradient_out, bool add, float* gradient_in) {
  HWY_DYNAMIC_DISPATCH(normalise_gradients_entry)(map, operand, scale, gradient_out, add, gradient_in);
}
void normal_products(const NormalisationMap& map, const float* operand, const float* gradient,
                     float* products) {
  HWY_DYNAMIC_DISPATCH(normal_products_entry)(map, operand, gradient, products);
}

}  // namespace assay::lanes
#endif
