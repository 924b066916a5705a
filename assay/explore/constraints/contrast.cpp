// More or less contrast.

#include <assay/array_math.h>

#include <assay/extend/attack_problem.h>
#include <assay/extend/constraint.h>
#include "assay/explore/pictures.h"

namespace assay::explore {
namespace {

class Contrast final : public Constraint {
 public:
  explicit Contrast(const SpecOptions& options)
      : least_(options.number("least", 0)), most_(options.number("most", 1)) {}

  Array direction(const Searches& searches, const Array&, const Array& wanted) const override {
    return along(wanted, line(searches));
  }
  Array kept(const Searches& searches, const Array& points) const override {
    const Array axis = line(searches), flat = axis.flatten(1), length = (flat * flat).sum(1);
    const Array factor = 1 + ((points - searches.seeds).flatten(1) * flat).sum(1) /
                                 array::where(length.gt(0), length, array::ones_like(length));
    return searches.seeds + axis * attack::per_record(factor.clamp(least_, most_) - 1, axis);
  }
  bool on_a_line() const override { return true; }
  Shrinking shrinking() const override { return {.scale = true, .elements = false}; }

 private:
  static Array line(const Searches& searches) {
    require_pictures(searches, "contrast");
    return searches.seeds - searches.seeds.mean({2, 3}, /*keep=*/true);
  }
  double least_, most_;
};

}  // namespace

ConstraintInfo contrast_constraint() {
  return {.name = "contrast",
          .summary = "more or less contrast",
          .definition =
              "x = mean + factor * (seed - mean), the mean over the places of each channel; the step is what "
              "of g lies along this line, the factor stays within [least, most], and what leaves the valid "
              "range is clipped",
          .limits = "one number per picture: a network that contrast alone does not fool gives nothing",
          .paper = "Assay; the change is that of DeepTest (Tian et al., ICSE 2018)",
          .options = {{"least", "0.2", "least factor"}, {"most", "3", "greatest factor"}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Constraint> {
            return std::make_unique<Contrast>(options);
          }};
}

}  // namespace assay::explore
