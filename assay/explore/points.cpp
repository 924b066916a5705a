#include "assay/explore/points.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <assay/array_math.h>
#include "assay/engine/elements.h"
#include "assay/support/numbers/vectorised.h"

namespace assay::explore {
namespace {

// Added to the root mean square by which a gradient is divided, as published.
constexpr double least_gradient = 1e-5;

ASSAY_VECTORISED void to_nearest_levels(float* units, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) units[i] = std::nearbyint(units[i] * 255) / 255;
}

// How far points are from their seeds, in levels.
ASSAY_VECTORISED void levels_between(const float* points, const float* seeds, std::size_t count,
                                     float* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = (points[i] - seeds[i]) * 255;
}

// From the seeds by so many levels towards `changes`, whole ones (std::trunc() takes no vectors). A separate
// loop: in one with the product, compilers that fuse it with the sum would give other bits for other
// processors.
ASSAY_VECTORISED void whole_changes(const float* seeds, std::size_t count, float* __restrict changes) {
  constexpr float rounding = 1e-4F;  // of a level, that float32 may have lost
  for (std::size_t i = 0; i < count; ++i) {
    const float change = changes[i];
    const float more = change + std::copysign(rounding, change), near = std::nearbyint(more),
                whole = std::abs(near) > std::abs(more) ? near - std::copysign(1.0F, near) : near;
    changes[i] = seeds[i] + whole / 255;
  }
}

}  // namespace

std::span<float> elements(const Array& points) {
  return {points.elements<float>(), static_cast<std::size_t>(points.count())};
}

std::size_t elements_in_row(const Array& points) {
  return points.count() / std::max<std::int64_t>(1, points.size(0));
}

Array rows_from(const Array& points, std::size_t first) {
  if (first == 0) return points;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(points.size(0)) - first);
  std::iota(rows.begin(), rows.end(), static_cast<std::int64_t>(first));
  return picked(points, rows);
}

Array normalised(const Array& gradients) {
  Array result = gradients.clone();
  const std::size_t width = elements_in_row(gradients);
  const std::span<float> all = elements(result);
  for (std::size_t begin = 0; begin < all.size(); begin += width) {
    double squares = 0;
    for (const float gradient : all.subspan(begin, width))
      squares += static_cast<double>(gradient) * gradient;
    const auto size = static_cast<float>(std::sqrt(squares / width) + least_gradient);
    for (float& gradient : all.subspan(begin, width)) gradient /= size;
  }
  return result;
}

Array moved(const Array& points, const Array& direction, double by) {
  Array result = array::empty(points.shape());
  const std::span<const float> from = elements(points), way = elements(direction);
  const std::span<float> to = elements(result);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] + way[i] * static_cast<float>(by);
  return result;
}

bool same_row(const Array& a, const Array& b, std::size_t row) {
  const std::size_t width = elements_in_row(a);
  return std::ranges::equal(elements(a).subspan(row * width, width), elements(b).subspan(row * width, width));
}

Array clipped(const Array& points) {
  Array result = array::empty(points.shape());
  const std::span<const float> from = elements(points);
  const std::span<float> to = elements(result);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::min(std::max(from[i], 0.0F), 1.0F);
  return result;
}

Array on_levels(const Array& points) {
  Array result = points.clone();
  to_nearest_levels(elements(result).data(), elements(result).size());
  return result;
}

Array on_levels(const Array& points, const Array& seeds) {
  Array result = array::empty(points.shape());
  const std::span<const float> point = elements(points), seed = elements(seeds);
  const std::span<float> to = elements(result);
  levels_between(point.data(), seed.data(), to.size(), to.data());
  whole_changes(seed.data(), to.size(), to.data());
  to_nearest_levels(to.data(), to.size());
  return result;
}

}  // namespace assay::explore
