#include <assay/robustness.h>

namespace assay::attack {

double DropCurve::accuracy(std::size_t i) const { return static_cast<double>(right.at(i)) / records; }

double DropCurve::clean_accuracy() const { return static_cast<double>(clean) / records; }

double DropCurve::area() const {
  const std::size_t last = along.size() - 1;
  double twice = 0;  // in records
  for (std::size_t i = 1; i <= last; ++i)
    twice += static_cast<double>(right[i - 1] + right[i]) * (along.severity(i) - along.severity(i - 1));
  return twice / 2 / records / (along.severity(last) - along.severity(0));
}

bool DropCurve::is_half_at_first() const { return clean > 0 && 2 * right.at(0) <= clean; }

std::optional<double> DropCurve::half_drop() const {
  if (clean == 0 || is_half_at_first()) return std::nullopt;
  for (std::size_t i = 1; i < right.size(); ++i) {
    if (2 * right[i] > clean) continue;
    const double before = right[i - 1], after = right[i],
                 way = (before - static_cast<double>(clean) / 2) / (before - after);
    return along.severity(i - 1) + way * (along.severity(i) - along.severity(i - 1));
  }
  return std::nullopt;
}

std::optional<DropCurve::Step> DropCurve::worst_step() const {
  std::size_t end = 0, most = 0;
  for (std::size_t i = 1; i < right.size(); ++i) {
    if (right[i - 1] <= right[i] + most) continue;
    most = right[i - 1] - right[i];
    end = i;
  }
  if (most == 0) return std::nullopt;
  return Step{end, static_cast<double>(most) / records};
}

}  // namespace assay::attack
