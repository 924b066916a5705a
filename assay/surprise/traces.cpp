#include "assay/surprise/traces.h"

#include <algorithm>
#include <cmath>

#include <assay/error.h>

namespace assay::surprise {

void require_sound(const Traces& traces) {
  if (traces.dimensions == 0) fail(Fault::mismatch, "traces have no dimensions; choose a layer with neurons");
  const bool fits = traces.values.size() % traces.dimensions == 0 &&
                    traces.values.size() / traces.dimensions == traces.records();
  if (!fits) {
    fail(Fault::mismatch, "traces: {} values are not {} records of {} dimensions; give one class per record",
         traces.values.size(), traces.records(), traces.dimensions);
  }
}

std::vector<std::size_t> non_finite_records(const Traces& traces) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < traces.records(); ++i) {
    const float* row = traces.row(i);
    if (!std::all_of(row, row + traces.dimensions, [](float v) { return std::isfinite(v); }))
      found.push_back(i);
  }
  return found;
}

SurpriseBucket surprise_bucket(double value, double lower, double upper, std::size_t n) {
  if (n == 0 || !std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper)) {
    fail(Fault::usage,
         "surprise buckets: {} buckets over ({}, {}]; give at least one bucket and lower < upper", n, lower,
         upper);
  }
  if (std::isnan(value)) return {BucketPlace::not_a_number, 0};
  if (value <= lower) return {BucketPlace::below, 0};
  if (value > upper) return {BucketPlace::overflow, 0};
  const double count = n;
  const double position = (value / 2 - lower / 2) / (upper / 2 - lower / 2) * count;
  const double index = std::clamp(std::ceil(position) - 1, 0.0, count - 1);
  return {BucketPlace::inside, std::min(static_cast<std::size_t>(index), n - 1)};
}

}  // namespace assay::surprise
