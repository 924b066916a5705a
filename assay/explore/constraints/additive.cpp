// Binary features that can only be added.

#include <assay/array_math.h>

#include <assay/extend/constraint.h>
#include "assay/explore/feature_sets.h"

namespace assay::explore {
namespace {

class Additive final : public Constraint {
 public:
  explicit Additive(const SpecOptions& options)
      : features_("additive", "features", options.text("features")), most_(options.count("most", 0)) {}

  Array direction(const Searches&, const Array& points, const Array& wanted) const override {
    const Array flat = wanted.flatten(1);
    Array added = flat.gt(0).logical_and(points.flatten(1).lt(1)).logical_and(allowed(flat));
    if (most_ > 0 && static_cast<std::int64_t>(most_) < flat.size(1)) {
      const Array gains = array::where(added, flat, array::zeros_like(flat));
      const Array best = array::topk(gains, most_, 1).positions;
      added = added.logical_and(array::scatter(array::zeros_like(added), 1, best, true));
    }
    return array::where(added, array::full_like(flat, enough), array::zeros_like(flat))
        .reshape(wanted.shape());
  }
  bool by_element() const override { return true; }
  Array admits(const Searches& searches, const Array& records) const override {
    const Array flat = records.flatten(1);
    const Array sound = flat.ge(1 - least_change).logical_and(allowed(flat));
    return searches.changed(records).flatten(1).logical_not().logical_or(sound).all(1);
  }
  Shrinking shrinking() const override { return {.scale = false, .elements = true}; }

 private:
  // [elements] bool, where `flat` is.
  Array allowed(const Array& flat) const {
    const Array mask =
        features_.empty() ? array::ones({flat.size(1)}, DType::boolean) : features_.mask(flat.size(1));
    return mask;
  }

  static constexpr float enough = 1e9F;  // a step of any size fills the feature

  FeatureSet features_;
  std::size_t most_;
};

}  // namespace

ConstraintInfo additive_constraint() {
  return {
      .name = "additive",
      .summary = "binary features that may be added and never removed",
      .definition =
          "every allowed feature that is absent and has g > 0 is set to the greatest valid value, whatever "
          "the step size",
      .limits =
          "all such features at once, as published, change a record much; most= takes the best ones only, "
          "and findings are shrunk feature by feature",
      .paper = "Pei et al., DeepXplore, SOSP 2017 (Drebin: features of the manifest)",
      .options = {{"features", "", "positions of features that may be added, such as 0-99+150; empty: all"},
                  {"most", "0", "features added in one iteration, those of greatest g; 0: all"}},
      .make = [](const SpecOptions& options) -> std::unique_ptr<Constraint> {
        return std::make_unique<Additive>(options);
      }};
}

}  // namespace assay::explore
