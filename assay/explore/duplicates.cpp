#include "assay/explore/duplicates.h"

#include <cmath>

#include "assay/engine/elements.h"

namespace assay::explore {
namespace {

double root_mean_square(const float* a, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * a[i];
  return std::sqrt(sum / count);
}

// Whether the mean square difference is at most `most`; stops as soon as it cannot be.
bool near(const float* a, const float* b, std::int64_t count, double most) {
  constexpr std::int64_t stride = 64;
  const double bound = most * count;
  double sum = 0;
  for (std::int64_t begin = 0; begin < count && sum <= bound; begin += stride) {
    for (std::int64_t i = begin; i < std::min(count, begin + stride); ++i) {
      const double d = static_cast<double>(a[i]) - b[i];
      sum += d * d;
    }
  }
  return sum <= bound;
}

}  // namespace

bool Seen::add(const std::vector<std::int64_t>& answers, const Array& point) {
  const Array host = in_memory(point, DType::float32);
  const float* values = host.elements<float>();
  const double length = root_mean_square(values, host.count()), slack = distance_ * (1 + 1e-6) + 1e-12;
  auto& same = by_length_[answers];
  // Lengths differ by no more than the records do.
  for (auto it = same.lower_bound(length - slack); it != same.end() && it->first <= length + slack; ++it) {
    if (near(values, it->second.elements<float>(), host.count(), distance_ * distance_)) return false;
  }
  same.emplace(length, host);
  return true;
}

}  // namespace assay::explore
