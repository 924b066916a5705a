#include "assay/attack/norms.h"

#include <assay/array_math.h>

#include <algorithm>

#include <assay/extend/attack_problem.h>
#include "assay/engine/elements.h"

namespace assay::attack {

const std::vector<std::string>& norm_names() {
  static const std::vector<std::string> names{"linf", "l2", "l1"};
  return names;
}

Norm norm_named(const std::string& name) {
  return static_cast<Norm>(std::ranges::find(norm_names(), name) - norm_names().begin());
}

namespace {

Array signs_of(const Array& gradient) {
  if (!floats_in_order(gradient)) return gradient.sign();
  Array signs = array::empty(gradient.shape());
  const float* const element = gradient.elements<float>();
  float* const sign = signs.elements<float>();
  for (std::int64_t i = 0, count = signs.count(); i < count; ++i)
    sign[i] = (element[i] > 0 ? 1.0F : 0.0F) - (element[i] < 0 ? 1.0F : 0.0F);
  return signs;
}

}  // namespace

// Squares of small numbers are 0 and of large ones infinite, so the greatest element becomes 1 first.
Unit unit_of(const Array& gradient, Norm norm) {
  const Array rows = gradient.flatten(1).to(DType::float64), greatest = rows.abs().amax(1, true);
  const Array scale = array::where(greatest.gt(0), greatest, array::ones_like(greatest)),
              scaled = rows / scale;
  const Array length = array::norm(scaled, norm == Norm::l1 ? 1 : 2, {1}, true);
  const Array direction = scaled / array::where(length.gt(0), length, array::ones_like(length));
  return {direction.to(gradient.dtype()).reshape(gradient.shape()), (length * scale).squeeze(1)};
}

Array steepest(const Array& gradient, Norm norm) {
  if (norm == Norm::linf) return signs_of(gradient);
  if (norm == Norm::l2) return unit_of(gradient, norm).direction;
  const Array rows = gradient.flatten(1);
  const Array size = rows.abs(), greatest = size.amax(1, true);
  const Array chosen = size.eq(greatest).logical_and(greatest.gt(0)).to(rows.dtype());
  return (rows.sign() * chosen / chosen.sum(1, true).clamp_min(1)).reshape(gradient.shape());
}

Array stepped(const Array& from, const Array& direction, double step) {
  if (!floats_in_order(from) || !floats_in_order(direction)) return (from + direction * step).clamp(0, 1);
  Array to = array::empty(from.shape());
  const float *const begin = from.elements<float>(), *const way = direction.elements<float>(),
                     length = static_cast<float>(step);
  float* const end = to.elements<float>();
  for (std::int64_t i = 0, count = to.count(); i < count; ++i)
    end[i] = std::min(std::max(begin[i] + length * way[i], 0.0F), 1.0F);
  return to;
}

Array project(const Array& change, Norm norm, double eps) {
  if (norm == Norm::linf) return change.clamp(-eps, eps);
  const Array length = array::norm(change.flatten(1), 2, {1}).clamp_min(1e-12);
  return change * per_record((eps / length).clamp_max(1), change);
}

bool floats_in_order(const Array& array) { return array.dtype() == DType::float32 && array.is_contiguous(); }

}  // namespace assay::attack
