#include <assay/extend/rule.h>

#include <assay/array_math.h>
#include "assay/support/thread_pool.h"

namespace assay::relevance {
namespace {

bool plain(const Array& array) { return array.dtype() == DType::float32 && array.is_contiguous(); }

// In one sweep over memory.
Array share_of_plain(const Array& relevance, const Array& z, float epsilon) {
  const Array shares = array::empty_like(z);
  const float *r = relevance.elements<float>(), *divisor = z.elements<float>();
  float* const out = shares.elements<float>();
  split_loop(z.count(), 1 << 15, [=](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      out[i] = r[i] / (divisor[i] + (divisor[i] >= 0 ? epsilon : -epsilon));
  });
  return shares;
}

}  // namespace

Array share_of(const Array& relevance, const Array& z, double epsilon) {
  if (epsilon > 0) {
    if (plain(relevance) && plain(z) && relevance.shape() == z.shape())
      return share_of_plain(relevance, z, static_cast<float>(epsilon));
    // 2 epsilon [z >= 0] - epsilon is epsilon times the sign.
    return relevance / (z.ge(0).to(z.dtype()).mul_(2 * epsilon).add_(-epsilon) + z);
  }
  return (relevance / z).masked_fill(z == 0, 0);
}

}  // namespace assay::relevance
