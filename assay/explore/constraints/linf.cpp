// An L-infinity ball around the seed.

#include <cmath>

#include <assay/extend/constraint.h>
#include "assay/engine/plain_tensor.h"
#include "assay/explore/changes.h"

namespace assay::explore {
namespace {

class LinfBall final : public Constraint {
 public:
  explicit LinfBall(const SpecOptions& options) : eps_(options.number("eps", 0)) {}

  Tensor kept(const Searches& searches, const Tensor& points) const override {
    return within(points, searches.seeds, eps_);
  }
  Tensor admits(const Searches& searches, const Tensor& records) const override {
    const Tensor beyond = room_for(records.sizes().vec(), c10::kBool);
    const float *const now = elements_of<float>(records), *const was = elements_of<float>(searches.seeds);
    const auto most = static_cast<float>(eps_ + 2 * least_change);
    for (std::int64_t i = 0; i < records.numel(); ++i)
      elements_of<bool>(beyond)[i] = std::abs(now[i] - was[i]) > most;
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
