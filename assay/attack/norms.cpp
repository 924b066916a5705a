#include "assay/attack/norms.h"

#include <ATen/ATen.h>

#include <algorithm>

#include <assay/extend/attack_problem.h>

namespace assay::attack {

const std::vector<std::string>& norm_names() {
  static const std::vector<std::string> names{"linf", "l2", "l1"};
  return names;
}

Norm norm_named(const std::string& name) {
  return static_cast<Norm>(std::ranges::find(norm_names(), name) - norm_names().begin());
}

Tensor steepest(const Tensor& gradient, Norm norm) {
  const Tensor rows = gradient.flatten(1);
  if (norm == Norm::linf) return gradient.sign();
  if (norm == Norm::l2) return gradient / per_record(rows.square().sum(1).clamp_min(1e-12).sqrt(), gradient);
  const Tensor size = rows.abs(), greatest = size.amax(1, true);
  const Tensor chosen = size.eq(greatest).logical_and(greatest.gt(0)).to(rows.scalar_type());
  return (rows.sign() * chosen / chosen.sum(1, true).clamp_min(1)).reshape_as(gradient);
}

Tensor project(const Tensor& change, Norm norm, double eps) {
  if (norm == Norm::linf) return change.clamp(-eps, eps);
  const Tensor length = change.flatten(1).norm(2, 1).clamp_min(1e-12);
  return change * per_record((eps / length).clamp_max(1), change);
}

Tensor l2_lengths(const Tensor& change) { return change.flatten(1).to(at::kDouble).norm(2, 1); }

}  // namespace assay::attack
