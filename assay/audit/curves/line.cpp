#include "assay/audit/curves/curve_forms.h"
#include "assay/audit/curves/least_squares.h"

namespace assay::audit {

Curve line(std::span<const double> x, std::span<const double> y) {
  const double mean_x = mean_of(x), mean_y = mean_of(y), slope = along(from_mean(x), y);
  return [=](double at) { return mean_y + slope * (at - mean_x); };
}

}  // namespace assay::audit
