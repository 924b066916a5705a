#include "assay/array/unary_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/array/unary_kernels.cpp"

#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "assay/array/vector_functions.h"

HWY_BEFORE_NAMESPACE();
namespace assay::array::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace vf = vectors::HWY_NAMESPACE;

template <typename F>
HWY_INLINE void each_vector(const float* from, float* to, std::size_t count, const F& f) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(d, from + i)), d, to + i);
  if (i == count) return;
  HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)] = {};
  for (std::size_t k = i; k < count; ++k) rest[k - i] = from[k];
  hn::Store(f(hn::Load(d, rest)), d, rest);
  for (std::size_t k = i; k < count; ++k) to[k] = rest[k - i];
}

void run_entry(UnaryKernel kernel, const float* from, float* to, std::size_t count) {
  using V = hn::Vec<hn::ScalableTag<float>>;
  switch (kernel) {
    case UnaryKernel::none:
      break;
    case UnaryKernel::exp:
      return each_vector(from, to, count, [](V x) HWY_ATTR { return vf::exponential(x); });
    case UnaryKernel::expm1:
      return each_vector(from, to, count, [](V x) HWY_ATTR { return vf::exponential_less_one(x); });
    case UnaryKernel::log:
      return each_vector(from, to, count, [](V x) HWY_ATTR { return vf::logarithm(x); });
    case UnaryKernel::tanh:
      return each_vector(from, to, count, [](V x) HWY_ATTR { return vf::hyperbolic_tangent(x); });
    case UnaryKernel::sigmoid:
      return each_vector(from, to, count, [](V x) HWY_ATTR { return vf::logistic(x); });
    case UnaryKernel::softplus:
      return each_vector(from, to, count, [](V x) HWY_ATTR { return vf::soft_plus(x); });
    case UnaryKernel::sqrt:
      return each_vector(from, to, count, [](V x) HWY_ATTR { return hn::Sqrt(x); });
  }
}

}  // namespace
}  // namespace assay::array::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::array {

HWY_EXPORT(run_entry);

void run(UnaryKernel kernel, const float* from, float* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(run_entry)(kernel, from, to, count);
}

}  // namespace assay::array
#endif
