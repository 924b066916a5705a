// An L2 ball around the seed.

#include <assay/array_math.h>

#include <assay/extend/constraint.h>
#include "assay/attack/norms.h"

namespace assay::explore {
namespace {

class L2Ball final : public Constraint {
 public:
  explicit L2Ball(const SpecOptions& options) : eps_(options.number("eps", 0)) {}

  Array kept(const Searches& searches, const Array& points) const override {
    return searches.seeds + attack::project(points - searches.seeds, attack::Norm::l2, eps_);
  }
  Array admits(const Searches& searches, const Array& records) const override {
    constexpr double rounding = 1 + 1e-4;
    return (records - searches.seeds).flatten(1).square().sum(1).sqrt().le(eps_ * rounding + least_change);
  }

 private:
  double eps_;
};

}  // namespace

ConstraintInfo l2_constraint() {
  return {
      .name = "l2",
      .summary = "a change no longer than eps",
      .definition =
          "a change longer than eps (square root of the sum of squares) is scaled down to it after each step",
      .limits =
          "the length grows with the number of elements: 1 is large for MNIST and small for large pictures",
      .paper = "Carlini, Wagner, S&P 2017, for the norm",
      .options = {{"eps", "2", "length, in units of the valid range"}},
      .make = [](const SpecOptions& options) -> std::unique_ptr<Constraint> {
        return std::make_unique<L2Ball>(options);
      }};
}

}  // namespace assay::explore
