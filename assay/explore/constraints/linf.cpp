// An L-infinity ball around the seed.

#include <cmath>

#include <assay/extend/constraint.h>
#include "assay/engine/elements.h"
#include "assay/explore/changes.h"

namespace assay::explore {
namespace {

class LinfBall final : public Constraint {
 public:
  explicit LinfBall(const SpecOptions& options) : eps_(options.number("eps", 0)) {}

  Array kept(const Searches& searches, const Array& points) const override {
    return within(points, searches.seeds, eps_);
  }
  Array admits(const Searches& searches, const Array& records) const override {
    const Array beyond = array::empty(records.shape(), DType::boolean);
    const float *const now = records.elements<float>(), *const was = searches.seeds.elements<float>();
    const auto most = static_cast<float>(eps_ + 2 * least_change);
    for (std::int64_t i = 0; i < records.count(); ++i)
      beyond.elements<bool>()[i] = std::abs(now[i] - was[i]) > most;
    return rows_without(beyond);
  }

 private:
  double eps_;
};

}  // namespace

ConstraintInfo linf_constraint() {
  return {.name = "linf",
          .summary = "no element further than eps from the seed",
          .definition = "every element of the change is cut to [-eps, eps] after each step",
          .limits = "says nothing about how natural the change is",
          .paper = "Goodfellow, Shlens, Szegedy, ICLR 2015, for the norm",
          .options = {{"eps", "0.1", "as a share of the valid range"}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Constraint> {
            return std::make_unique<LinfBall>(options);
          }};
}

}  // namespace assay::explore
