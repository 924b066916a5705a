#pragma once

// Changed records as pictures: before, after, difference.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/report/document.h"

namespace assay::app {

struct ChangedRecord {
  std::span<const float> before, after;  // elements of a record each, as the data set has them
  std::string caption;                   // "record '7': 2 is taken for 3"
};

// Writes FOLDER/NAME-1.png, NAME-2.png, ... and names them for a result document, in the order given; the caption is followed by
// how much the difference is amplified. Values are mapped from the valid range of `data`, or from the range of the record before,
// to black and white. REQUIRES is_picture(data). Throws Error{io}.
std::vector<Picture> draw_triples(const Dataset& data, std::span<const ChangedRecord> records, const std::filesystem::path& folder,
                                  const std::string& name);

}  // namespace assay::app
