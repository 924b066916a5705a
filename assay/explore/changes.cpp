#include "assay/explore/changes.h"

#include <algorithm>
#include <cmath>

#include <assay/extend/constraint.h>
#include "assay/engine/plain_tensor.h"

namespace assay::explore {

Tensor within(const Tensor& points, const Tensor& seeds, double most) {
  Tensor result = room_for(points.sizes().vec());
  const float *const point = elements_of<float>(points), *const seed = elements_of<float>(seeds),
                     bound = static_cast<float>(most);
  float* const to = elements_of<float>(result);
  for (std::int64_t i = 0, count = result.numel(); i < count; ++i)
    to[i] = seed[i] + std::min(std::max(point[i] - seed[i], -bound), bound);
  return result;
}

Tensor rows_without(const Tensor& mask) {
  const std::int64_t rows = mask.size(0), elements = mask.numel() / std::max<std::int64_t>(1, rows);
  Tensor without = room_for({rows}, c10::kBool);
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool* const of_row = elements_of<bool>(mask) + row * elements;
    elements_of<bool>(without)[row] =
        std::none_of(of_row, of_row + elements, [](bool truth) { return truth; });
  }
  return without;
}

Tensor Searches::changed(const Tensor& records) const {
  Tensor changed = room_for(records.sizes().vec(), c10::kBool);
  const Tensor here = in_memory(records, c10::kFloat), before = in_memory(seeds, c10::kFloat);
  const float *const now = elements_of<float>(here), *const was = elements_of<float>(before);
  bool* const to = elements_of<bool>(changed);
  for (std::int64_t i = 0, count = changed.numel(); i < count; ++i)
    to[i] = std::abs(now[i] - was[i]) > static_cast<float>(least_change);
  return changed;
}

}  // namespace assay::explore
