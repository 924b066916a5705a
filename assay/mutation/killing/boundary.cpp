// The search for the mildest change that is killed.

#include <cmath>

#include <assay/error.h>
#include <assay/statistical_killing.h>
#include "assay/mutation/killing/boundary.h"

namespace assay::mutation {

BoundarySearch::BoundarySearch(const OptionRange& range)
    : range_(range), unkilled_(range.mildest), killed_(range.extreme), next_(range.extreme) {
  if (!(range.step > 0)) fail(Fault::internal, "a search needs a step");
}

double BoundarySearch::rounded(double value) const {
  return range_.mildest + std::round((value - range_.mildest) / range_.step) * range_.step;
}

void BoundarySearch::tell(bool killed) {
  if (!next_) fail(Fault::internal, "the search is over");
  ++tried_;
  (killed ? killed_ : unkilled_) = *next_;
  found_ = found_ || killed;
  next_.reset();
  if (!found_) return;  // not even the extreme
  if (std::fabs(killed_ - unkilled_) <= range_.step * (1 + 1e-9)) return;
  const double middle = rounded((killed_ + unkilled_) / 2);
  const auto inside = [&](double value) {
    return (value - unkilled_) * (value - killed_) < 0 && std::fabs(value - unkilled_) > range_.step * 1e-6 &&
           std::fabs(value - killed_) > range_.step * 1e-6;
  };
  if (inside(middle)) next_ = middle;
}

std::optional<double> BoundarySearch::boundary() const {
  return found_ ? std::optional(killed_) : std::nullopt;
}

}  // namespace assay::mutation
