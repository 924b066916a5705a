// An L-infinity ball around the seed.

#include <ATen/ATen.h>

#include <assay/extend/constraint.h>
#include "assay/attack/norms.h"

namespace assay::explore {
namespace {

class LinfBall final : public Constraint {
 public:
  explicit LinfBall(const SpecOptions& options) : eps_(options.number("eps", 0)) {}

  Tensor kept(const Searches& searches, const Tensor& points) const override {
    return searches.seeds + attack::project(points - searches.seeds, attack::Norm::linf, eps_);
  }
  Tensor admits(const Searches& searches, const Tensor& records) const override {
    return (records - searches.seeds).abs().flatten(1).amax(1).le(eps_ + 2 * least_change);
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
