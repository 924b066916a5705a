#include <assay/extend/rule.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace assay::relevance {
namespace {

bool plain(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.scalar_type() == at::kFloat && tensor.is_contiguous();
}

// In one sweep over memory.
at::Tensor share_of_plain(const at::Tensor& relevance, const at::Tensor& z, float epsilon) {
  const at::Tensor shares = at::empty_like(z);
  const float *r = relevance.data_ptr<float>(), *divisor = z.data_ptr<float>();
  float* const out = shares.data_ptr<float>();
  at::parallel_for(0, z.numel(), 1 << 15, [=](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i)
      out[i] = r[i] / (divisor[i] + (divisor[i] >= 0 ? epsilon : -epsilon));
  });
  return shares;
}

}  // namespace

at::Tensor share_of(const at::Tensor& relevance, const at::Tensor& z, double epsilon) {
  if (epsilon > 0) {
    if (plain(relevance) && plain(z) && relevance.sizes() == z.sizes())
      return share_of_plain(relevance, z, static_cast<float>(epsilon));
    // 2 epsilon [z >= 0] - epsilon is epsilon times the sign.
    at::Tensor denominator = z.ge(0).to(z.scalar_type()).mul_(2 * epsilon).sub_(epsilon).add_(z);
    return at::div(relevance, denominator);
  }
  return at::div(relevance, z).masked_fill_(z == 0, 0);
}

}  // namespace assay::relevance
