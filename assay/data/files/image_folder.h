#pragma once

// A data set as folders of pictures, one a class: a form that external trainers read.

#include <filesystem>

#include <assay/dataset.h>

namespace assay::inline data {

// What pixels stand for: a value is low + pixel / 255 * (high - low).
struct PixelScale {
  float low = 0, high = 1;
  double changed = 0;  // the most that a value changed by being rounded, or cut off at the ends of the range
};

// Writes every record as FOLDER/CLASS/RECORD.png. Classes have their numbers as names, with leading zeros, so
// that their alphabetical order is theirs; there is a folder for each. The valid range becomes 0 to 255.
// Throws Error{usage} for records that are not pictures of one or three channels, that have no classes, or
// whose valid range is unknown or differs between channels; Error{io}.
PixelScale write_image_folder(const Dataset& data, const std::filesystem::path& folder);

}  // namespace assay::inline data
