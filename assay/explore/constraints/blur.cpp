// A lens more or less out of focus.

#include <assay/array_math.h>

#include <assay/extend/attack_problem.h>
#include <assay/extend/constraint.h>
#include "assay/attack/attacks/corruption.h"
#include "assay/explore/pictures.h"

namespace assay::explore {
namespace {

class Blur final : public Constraint {
 public:
  explicit Blur(const SpecOptions& options) : sigma_(options.number("sigma", 0.1)) {}

  Array direction(const Searches& searches, const Array&, const Array& wanted) const override {
    return along(wanted, line(searches));
  }
  Array kept(const Searches& searches, const Array& points) const override {
    const Array axis = line(searches), flat = axis.flatten(1), length = (flat * flat).sum(1);
    const Array share = ((points - searches.seeds).flatten(1) * flat).sum(1) /
                        array::where(length.gt(0), length, array::ones_like(length));
    return searches.seeds + axis * attack::per_record(share.clamp(0, 1), axis);
  }
  bool on_a_line() const override { return true; }
  Shrinking shrinking() const override { return {.scale = true, .elements = false}; }

 private:
  Array line(const Searches& searches) const {
    require_pictures(searches, "blur");
    return attack::gaussian_blur(searches.seeds, sigma_) - searches.seeds;
  }
  double sigma_;
};

}  // namespace

ConstraintInfo blur_constraint() {
  return {
      .name = "blur",
      .summary = "the picture mixed with its blurred self",
      .definition =
          "x = seed + share * (blurred - seed), share in [0, 1]; the step is what of g lies along this line",
      .limits = "one number per picture; the standard deviation itself is not searched",
      .paper = "Assay; the change is that of DeepTest (Tian et al., ICSE 2018)",
      .options = {{"sigma", "2", "standard deviation of the Gaussian, in pixels"}},
      .make = [](const SpecOptions& options) -> std::unique_ptr<Constraint> {
        return std::make_unique<Blur>(options);
      }};
}

}  // namespace assay::explore
