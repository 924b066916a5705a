#pragma once

// The inverse of base64() in text.h.

#include <optional>
#include <string>
#include <string_view>

namespace assay::inline support {

// Nothing where a character is not one of the alphabet of RFC 4648. What follows the padding is ignored.
std::optional<std::string> bytes_of_base64(std::string_view text);

}  // namespace assay::inline support
