#include "assay/attack/norms.h"

#include <ATen/ATen.h>

#include <algorithm>

#include <assay/extend/attack_problem.h>
#include "assay/engine/plain_tensor.h"

namespace assay::attack {

const std::vector<std::string>& norm_names() {
  static const std::vector<std::string> names{"linf", "l2", "l1"};
  return names;
}

Norm norm_named(const std::string& name) {
  return static_cast<Norm>(std::ranges::find(norm_names(), name) - norm_names().begin());
}

namespace {

Tensor signs_of(const Tensor& gradient) {
  if (!floats_in_reach(gradient)) return gradient.sign();
  Tensor signs = room_for(gradient.sizes().vec());
  const float* const slope = elements_of<float>(gradient);
  float* const sign = elements_of<float>(signs);
  for (std::int64_t i = 0, count = signs.numel(); i < count; ++i)
    sign[i] = (slope[i] > 0 ? 1.0F : 0.0F) - (slope[i] < 0 ? 1.0F : 0.0F);
  return signs;
}

}  // namespace

// Squares of small numbers are 0 and of large ones infinite, so the greatest element becomes 1 first.
Unit unit_of(const Tensor& gradient, Norm norm) {
  const Tensor rows = gradient.flatten(1).to(at::kDouble), greatest = rows.abs().amax(1, true);
  const Tensor scale = at::where(greatest.gt(0), greatest, at::ones_like(greatest)), scaled = rows / scale;
  const Tensor length = scaled.norm(norm == Norm::l1 ? 1 : 2, 1, true);
  const Tensor direction = scaled / at::where(length.gt(0), length, at::ones_like(length));
  return {direction.to(gradient.scalar_type()).reshape_as(gradient), (length * scale).squeeze(1)};
}

Tensor steepest(const Tensor& gradient, Norm norm) {
  if (norm == Norm::linf) return signs_of(gradient);
  if (norm == Norm::l2) return unit_of(gradient, norm).direction;
  const Tensor rows = gradient.flatten(1);
  const Tensor size = rows.abs(), greatest = size.amax(1, true);
  const Tensor chosen = size.eq(greatest).logical_and(greatest.gt(0)).to(rows.scalar_type());
  return (rows.sign() * chosen / chosen.sum(1, true).clamp_min(1)).reshape_as(gradient);
}

Tensor stepped(const Tensor& from, const Tensor& direction, double step) {
  if (!floats_in_reach(from) || !floats_in_reach(direction))
    return at::add(from, direction, step).clamp_(0, 1);
  Tensor to = room_for(from.sizes().vec());
  const float *const begin = elements_of<float>(from), *const way = elements_of<float>(direction),
                     length = static_cast<float>(step);
  float* const end = elements_of<float>(to);
  for (std::int64_t i = 0, count = to.numel(); i < count; ++i)
    end[i] = std::min(std::max(begin[i] + length * way[i], 0.0F), 1.0F);
  return to;
}

Tensor project(const Tensor& change, Norm norm, double eps) {
  if (norm == Norm::linf) return change.clamp(-eps, eps);
  const Tensor length = change.flatten(1).norm(2, 1).clamp_min(1e-12);
  return change * per_record((eps / length).clamp_max(1), change);
}

Tensor l2_lengths(const Tensor& change) { return change.flatten(1).to(at::kDouble).norm(2, 1); }

}  // namespace assay::attack
