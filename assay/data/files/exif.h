#pragma once

// The orientation that cameras note in a picture's file (Exif 2.32, tag 0x0112).

#include <string_view>

namespace assay::inline data {

// The orientation 1 to 8 of a JPEG or PNG; 1, as stored, if there is no valid one. 6 means a quarter turn
// clockwise.
int exif_orientation(std::string_view bytes);

}  // namespace assay::inline data
