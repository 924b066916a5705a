#include "assay/relevance/stabilise.h"

#include <ATen/ATen.h>

namespace assay {

at::Tensor share_of(const at::Tensor& relevance, const at::Tensor& z, double epsilon) {
  if (epsilon > 0) {
    // 2 epsilon [z >= 0] - epsilon is epsilon times the sign.
    at::Tensor denominator = z.ge(0).to(z.scalar_type()).mul_(2 * epsilon).sub_(epsilon).add_(z);
    return at::div(relevance, denominator);
  }
  return at::div(relevance, z).masked_fill_(z == 0, 0);
}

}  // namespace assay
