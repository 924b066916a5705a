#include "assay/explore/changes.h"

#include <algorithm>
#include <cmath>

#include <assay/extend/constraint.h>
#include "assay/engine/elements.h"

namespace assay::explore {

Array within(const Array& points, const Array& seeds, double most) {
  Array result = array::empty(points.shape());
  const float *const point = points.elements<float>(), *const seed = seeds.elements<float>(),
                     bound = static_cast<float>(most);
  float* const to = result.elements<float>();
  for (std::int64_t i = 0, count = result.count(); i < count; ++i)
    to[i] = seed[i] + std::min(std::max(point[i] - seed[i], -bound), bound);
  return result;
}

Array rows_without(const Array& mask) {
  const std::int64_t rows = mask.size(0), elements = mask.count() / std::max<std::int64_t>(1, rows);
  Array without = array::empty({rows}, DType::boolean);
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool* const of_row = mask.elements<bool>() + row * elements;
    without.elements<bool>()[row] = std::none_of(of_row, of_row + elements, [](bool truth) { return truth; });
  }
  return without;
}

Array Searches::changed(const Array& records) const {
  Array changed = array::empty(records.shape(), DType::boolean);
  const Array here = in_memory(records, DType::float32), before = in_memory(seeds, DType::float32);
  const float *const now = here.elements<float>(), *const was = before.elements<float>();
  bool* const to = changed.elements<bool>();
  for (std::int64_t i = 0, count = changed.count(); i < count; ++i)
    to[i] = std::abs(now[i] - was[i]) > static_cast<float>(least_change);
  return changed;
}

}  // namespace assay::explore
