#include "assay/inspection/statistics/intervals.h"

#include <algorithm>
#include <cmath>

namespace assay::inspection {

Range fisher(double r, double error, double z) {
  if (std::fabs(r) >= 1) return {r, r};
  return {std::tanh(std::atanh(r) - z * error), std::tanh(std::atanh(r) + z * error)};
}

Score correlation(const PairSums& s, double x_offset, double y_offset) {
  Score score;
  score.rows = static_cast<std::uint64_t>(s.n);
  if (s.n < 4) {
    score.status = "too_few_rows";
    return score;
  }
  const Deviations d = deviations(s);
  if (is_constant(d.yy, s.n, y_offset + s.y / s.n)) {
    score.status = "constant_hypothesis";
  } else if (is_constant(d.xx, s.n, x_offset + s.x / s.n)) {
    score.value = 0;
    score.status = "constant_unit";
  } else {
    score.value = std::clamp(d.xy / std::sqrt(d.xx * d.yy), -1.0, 1.0);
    // A value that differs from 1 only by rounding is 1.
    if (1 - std::fabs(score.value) < 1e-12) score.value = score.value > 0 ? 1 : -1;
  }
  return score;
}

Score two_class_score(const PairSums& s, double x_offset, double nothing) {
  Score score;
  score.rows = static_cast<std::uint64_t>(s.n);
  if (s.n < 4) {
    score.status = "too_few_rows";
  } else if (s.y == 0 || s.y == s.n) {
    score.status = "constant_hypothesis";
  } else if (is_constant(deviations(s).xx, s.n, x_offset + s.x / s.n)) {
    score.value = nothing;
    score.status = "constant_unit";
  } else if (s.y < 2 || s.n - s.y < 2) {
    score.status = "too_few_rows";
  }
  return score;
}

}  // namespace assay::inspection
