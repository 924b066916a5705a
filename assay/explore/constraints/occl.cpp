// Occlusion by one rectangle with any content.

#include <assay/error.h>
#include <assay/extend/constraint.h>
#include "assay/engine/elements.h"
#include "assay/explore/changes.h"
#include "assay/explore/pictures.h"

namespace assay::explore {
namespace {

class Occlusion final : public Constraint {
 public:
  explicit Occlusion(const SpecOptions& options)
      : size_(pair_of(options, "occl", "size", 1)), random_(options.text("at") == "random") {
    if (!random_) place_ = pair_of(options, "occl", "at", 0);
  }

  Array direction(const Searches& searches, const Array&, const Array& wanted) const override {
    require_pictures(searches, "occl");
    Array allowed = array::zeros(wanted.shape());
    const float* const from = wanted.elements<float>();
    float* const to = allowed.elements<float>();
    for (std::int64_t row = 0; row < wanted.size(0); ++row) {
      each_inside(wanted, row, place_of(searches, static_cast<std::size_t>(row)),
                  [&](std::int64_t i) { to[i] = from[i]; });
    }
    return allowed;
  }
  bool by_element() const override { return true; }
  Array admits(const Searches& searches, const Array& records) const override {
    const Array changed = searches.changed(records);
    bool* const outside = changed.elements<bool>();
    for (std::int64_t row = 0; row < records.size(0); ++row) {
      each_inside(records, row, place_of(searches, static_cast<std::size_t>(row)),
                  [&](std::int64_t i) { outside[i] = false; });
    }
    return rows_without(changed);
  }

 private:
  Rectangle place_of(const Searches& searches, std::size_t row) const {
    const Array& seeds = searches.seeds;
    if (!random_ && (place_.first >= seeds.size(2) || place_.second >= seeds.size(3)))
      fail(Fault::usage,
           "constraint 'occl': at={}x{} lies beyond the picture of {} x {}; rows count from 0 to {}, columns "
           "from 0 to {}",
           place_.first, place_.second, seeds.size(2), seeds.size(3), seeds.size(2) - 1, seeds.size(3) - 1);
    if (random_)
      return random_rectangle(seeds, size_.first, size_.second, searches.constant_rng(row, stream));
    const std::int64_t top = std::min(place_.first, seeds.size(2)),
                       left = std::min(place_.second, seeds.size(3));
    return {top, left, std::min(size_.first, seeds.size(2) - top),
            std::min(size_.second, seeds.size(3) - left)};
  }

  static constexpr std::uint64_t stream = 0x0cc1;
  std::pair<std::int64_t, std::int64_t> size_, place_;
  bool random_;
};

}  // namespace

ConstraintInfo occl_constraint() {
  return {
      .name = "occl",
      .summary = "one rectangle with free content, as something before the lens",
      .definition =
          "the step inside one rectangle of each picture, 0 outside; a random place is drawn once per seed",
      .limits = "cannot move the rectangle on the way",
      .paper =
          "Pei et al., DeepXplore, SOSP 2017 (occlusion by a single small rectangle; 10x10 for MNIST, 50x50 "
          "for larger pictures, released code at 0x0)",
      .options = {{"size", "10x10", "rows x columns"},
                  {"at", "random", "row x column of its upper left corner, or random for each seed"}},
      .make = [](const SpecOptions& options) -> std::unique_ptr<Constraint> {
        return std::make_unique<Occlusion>(options);
      }};
}

}  // namespace assay::explore
