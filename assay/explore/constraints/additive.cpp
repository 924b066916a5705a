// Binary features that can only be added.

#include <ATen/ATen.h>

#include <assay/extend/constraint.h>
#include "assay/explore/feature_sets.h"

namespace assay::explore {
namespace {

class Additive final : public Constraint {
 public:
  explicit Additive(const SpecOptions& options)
      : features_("additive", "features", options.text("features")), most_(options.count("most", 0)) {}

  Tensor direction(const Searches&, const Tensor& points, const Tensor& wanted) const override {
    const Tensor flat = wanted.flatten(1);
    Tensor added = flat.gt(0).logical_and(points.flatten(1).lt(1)).logical_and(allowed(flat));
    if (most_ > 0 && static_cast<std::int64_t>(most_) < flat.size(1)) {
      const Tensor best =
          std::get<1>(at::where(added, flat, at::zeros_like(flat)).topk(static_cast<std::int64_t>(most_), 1));
      added = added.logical_and(at::zeros_like(added).scatter(1, best, true));
    }
    return at::where(added, at::full_like(flat, enough), at::zeros_like(flat)).reshape_as(wanted);
  }
  bool by_element() const override { return true; }
  Tensor admits(const Searches& searches, const Tensor& records) const override {
    const Tensor flat = records.flatten(1);
    const Tensor sound = flat.ge(1 - least_change).logical_and(allowed(flat));
    return searches.changed(records).flatten(1).logical_not().logical_or(sound).all(1);
  }
  Shrinking shrinking() const override { return {.scale = false, .elements = true}; }

 private:
  // [elements] bool, where `flat` is.
  Tensor allowed(const Tensor& flat) const {
    const Tensor mask =
        features_.empty() ? at::ones({flat.size(1)}, at::kBool) : features_.mask(flat.size(1));
    return mask.to(flat.device());
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
