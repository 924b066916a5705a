// Lighting: the whole picture lighter or darker.

#include <algorithm>

#include <assay/extend/constraint.h>
#include "assay/engine/elements.h"
#include "assay/explore/changes.h"
#include "assay/support/numbers/simd_sums.h"

namespace assay::explore {
namespace {

class Light final : public Constraint {
 public:
  explicit Light(const SpecOptions& options)
      : strength_(options.number("strength", 0)), most_(options.number("most", 0)) {}

  Array direction(const Searches&, const Array&, const Array& wanted) const override {
    Array allowed = array::empty(wanted.shape());
    const std::int64_t rows = wanted.size(0), elements = wanted.count() / std::max<std::int64_t>(1, rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* const from = wanted.elements<float>() + row * elements;
      const double mean = simd_sum({from, static_cast<std::size_t>(elements)}) / elements;
      std::fill_n(allowed.elements<float>() + row * elements, elements, static_cast<float>(mean * strength_));
    }
    return allowed;
  }
  Array kept(const Searches& searches, const Array& points) const override {
    return within(points, searches.seeds, most_);
  }
  bool on_a_line() const override { return true; }
  Shrinking shrinking() const override { return {.scale = true, .elements = false}; }

 private:
  double strength_, most_;
};

}  // namespace

ConstraintInfo light_constraint() {
  return {.name = "light",
          .summary = "the whole record lighter or darker by the same amount",
          .definition =
              "every element of the step = strength * mean(g); the change of light stays within most, and "
              "what leaves the valid range is clipped",
          .limits =
              "a network that a change of light alone does not fool gives nothing; clipping makes dark and "
              "light places lose detail",
          .paper = "Pei et al., DeepXplore, SOSP 2017 (lighting; strength 1 for MNIST)",
          .options = {{"strength", "1", "factor of the mean gradient"},
                      {"most", "1", "greatest change of light, as a share of the valid range"}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Constraint> {
            return std::make_unique<Light>(options);
          }};
}

}  // namespace assay::explore
