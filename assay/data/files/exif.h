#pragma once

// The orientation that cameras note in a picture's file (Exif 2.32, tag 0x0112).

#include <string_view>

namespace assay {

// 1 to 8 of a JPEG or PNG; 1, as it is stored, where nothing or nothing sensible is noted. 6 is a picture to
// be turned a quarter clockwise.
int exif_orientation(std::string_view bytes);

}  // namespace assay
