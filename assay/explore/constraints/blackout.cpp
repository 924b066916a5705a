// Occlusion by many tiny black rectangles, as dirt on a lens.

#include <assay/extend/constraint.h>
#include "assay/engine/elements.h"
#include "assay/explore/changes.h"
#include "assay/explore/pictures.h"

namespace assay::explore {
namespace {

class Blackout final : public Constraint {
 public:
  explicit Blackout(const SpecOptions& options)
      : size_(pair_of(options, "blackout", "size", 1)), count_(options.count("count", 1)) {}

  Array direction(const Searches& searches, const Array&, const Array& wanted) const override {
    require_pictures(searches, "blackout");
    Array allowed = array::zeros(wanted.shape());
    const float* const from = wanted.elements<float>();
    float* const to = allowed.elements<float>();
    for (std::int64_t row = 0; row < wanted.size(0); ++row) {
      for (std::size_t i = 0; i < count_; ++i) {
        const Rectangle where =
            random_rectangle(wanted, size_.first, size_.second, searches.rng(row, stream + i));
        double sum = 0;
        each_inside(wanted, row, where, [&](std::int64_t at) { sum += from[at]; });
        if (sum < 0) each_inside(wanted, row, where, [&](std::int64_t at) { to[at] = -1; });
      }
    }
    return allowed;
  }
  bool by_element() const override { return true; }
  Array admits(const Searches& searches, const Array& records) const override {
    const Array lighter = array::empty(records.shape(), DType::boolean);
    const float *const now = records.elements<float>(), *const was = searches.seeds.elements<float>();
    for (std::int64_t i = 0; i < records.count(); ++i)
      lighter.elements<bool>()[i] = now[i] > was[i] + static_cast<float>(least_change);
    return rows_without(lighter);
  }
  Shrinking shrinking() const override { return {.scale = false, .elements = false}; }
  std::size_t patience() const override { return 20; }

 private:
  static constexpr std::uint64_t stream = 0xb1ac;
  std::pair<std::int64_t, std::int64_t> size_;
  std::size_t count_;
};

}  // namespace

ConstraintInfo blackout_constraint() {
  return {
      .name = "blackout",
      .summary = "many tiny black rectangles, as dirt on the lens",
      .definition =
          "in every iteration `count` random rectangles; where the mean of g in one is below 0 its elements "
          "of the step are -1, all others 0. No element ever rises",
      .limits =
          "rectangles are random, so many iterations do nothing; given up after more than 20 without a "
          "change",
      .paper =
          "Pei et al., DeepXplore, SOSP 2017 (occlusion by multiple tiny black rectangles; 6x6 for MNIST, "
          "10x10 for larger pictures; released code draws one an iteration)",
      .options = {{"size", "6x6", "rows x columns"}, {"count", "1", "rectangles an iteration"}},
      .make = [](const SpecOptions& options) -> std::unique_ptr<Constraint> {
        return std::make_unique<Blackout>(options);
      }};
}

}  // namespace assay::explore
