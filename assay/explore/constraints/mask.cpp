// Only some places may change.

#include <assay/array_math.h>

#include <assay/error.h>
#include <assay/extend/constraint.h>
#include "assay/data/files/image.h"
#include "assay/data/files/numpy.h"
#include "assay/explore/feature_sets.h"
#include "assay/explore/pictures.h"
#include "assay/support/files/file.h"

namespace assay::explore {
namespace {

// [height, width] or [elements] bool.
Array read_mask(const std::string& path) {
  const std::string bytes = read_file(path);
  if (path.ends_with(".npy")) {
    const Array values = parse_npy(bytes, path);
    return values.ne(0);
  }
  Image image = with_channels(decode_image(bytes, path), 1);
  const Array pixels = Array::around(image.pixels.data(), DType::uint8, {image.height, image.width});
  return pixels.ne(0);
}

class Mask final : public Constraint {
 public:
  explicit Mask(const SpecOptions& options)
      : elements_("mask", "elements", options.text("elements")), whole_area_(options.text("area").empty()) {
    if (!options.text("file").empty()) file_ = read_mask(options.text("file"));
    if (whole_area_ && options.text("at") != "0x0")
      fail(Fault::usage, "constraint 'mask': at={} has no effect without area=", options.text("at"));
    if (!whole_area_) {
      size_ = pair_of(options, "mask", "area", 1);
      place_ = pair_of(options, "mask", "at", 0);
    }
    if (!file_.defined() && whole_area_ && elements_.empty())
      fail(Fault::usage, "constraint 'mask': what may change? give file=, area= with at=, or elements=");
  }

  Array direction(const Searches& searches, const Array&, const Array& wanted) const override {
    return array::where(allowed(searches), wanted, array::zeros_like(wanted));
  }
  bool by_element() const override { return true; }
  Array admits(const Searches& searches, const Array& records) const override {
    return searches.changed(records)
        .logical_and(allowed(searches).logical_not())
        .flatten(1)
        .any(1)
        .logical_not();
  }

 private:
  Array allowed(const Searches& searches) const {
    const Array one = searches.seeds.slice(0, 0, 1);
    Array mask = array::zeros_like(one, DType::boolean);
    if (!elements_.empty()) mask = mask.logical_or(elements_.mask(one.count()).reshape(one.shape()));
    if (!whole_area_) {
      require_pictures(searches, "mask");
      if (place_.first + size_.first > one.size(2) || place_.second + size_.second > one.size(3)) {
        fail(Fault::usage, "constraint 'mask': the area reaches beyond the picture of {} x {}", one.size(2),
             one.size(3));
      }
      mask.narrow(2, place_.first, size_.first).narrow(3, place_.second, size_.second).fill_(true);
    }
    if (!file_.defined()) return mask;
    const bool of_pixels =
        one.rank() == 4 && file_.rank() == 2 && file_.size(0) == one.size(2) && file_.size(1) == one.size(3);
    if (!of_pixels && file_.count() != one.count())
      fail(Fault::mismatch, "constraint 'mask': the mask has {} elements and a record {}", file_.count(),
           one.count());
    return mask.logical_or((of_pixels ? file_.expand(one.shape()) : file_.reshape(one.shape())));
  }

  FeatureSet elements_;
  bool whole_area_;
  std::pair<std::int64_t, std::int64_t> size_, place_;
  Array file_;
};

}  // namespace

ConstraintInfo mask_constraint() {
  return {.name = "mask",
          .summary = "only marked places may change",
          .definition =
              "the step where the mask is not 0, nothing elsewhere; a mask of a picture holds for all its "
              "channels",
          .limits = "the same places for every record",
          .paper = "Assay",
          .options = {{"file", "",
                       "picture (PNG, JPEG) or .npy array of the record's shape; what is not 0 may change"},
                      {"area", "", "rows x columns of a rectangle that may change"},
                      {"at", "0x0", "row x column of its upper left corner"},
                      {"elements", "", "positions of elements that may change, such as 0-32+40"}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Constraint> {
            return std::make_unique<Mask>(options);
          }};
}

}  // namespace assay::explore
