#include "assay/inspection/unrolled.h"

#include <ATen/ATen.h>

#include <tuple>

namespace assay::inspection {

Tensors decision_slopes(const Session& session, const Tensors& given, std::span<const ValueId> values) {
  const ValueId logits = session.logits();
  return session.gradients(
      given, std::span(&logits, 1),
      [&](const Tensors& read) {
        const Tensor rows = read.at(logits).reshape({read.at(logits).size(0), -1});
        return std::get<0>(rows.max(1)).sum();
      },
      values);
}

}  // namespace assay::inspection
