#include "assay/relevance/start.h"

#include <ATen/ATen.h>

#include <assay/error.h>

namespace assay::relevance {

Tensor chosen_elements(const Tensor& logits, const Target& target) {
  const Tensor rows = logits.reshape({logits.size(0), -1});
  Tensor mask = at::zeros_like(rows, rows.options().dtype(at::kBool));
  if (target.classes.empty()) return mask.scatter_(1, rows.argmax(1, true), true).reshape(logits.sizes());
  if (static_cast<std::int64_t>(target.classes.size()) != rows.size(0)) {
    fail(Fault::usage, "{} classes are given for {} records", target.classes.size(), rows.size(0));
  }
  Tensor host = at::zeros(rows.sizes(), at::kBool);
  for (std::size_t i = 0; i < target.classes.size(); ++i) {
    const std::int64_t c = target.classes[i];
    if (c == Target::no_class) continue;
    if (c < 0 || c >= rows.size(1))
      fail(Fault::usage, "class {} does not exist; the network has {} outputs", c, rows.size(1));
    host.data_ptr<bool>()[static_cast<std::int64_t>(i) * rows.size(1) + c] = true;
  }
  return host.to(logits.device()).reshape(logits.sizes());
}

std::vector<double> per_record(const Tensor& relevance) {
  const Tensor sums =
      relevance.reshape({relevance.size(0), -1}).sum(1, false, at::kDouble).to(at::kCPU).contiguous();
  return {sums.data_ptr<double>(), sums.data_ptr<double>() + sums.numel()};
}

}  // namespace assay::relevance
