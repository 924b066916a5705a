#pragma once

#include <string_view>

namespace assay::text {

// What stands for a blank in pieces, and how it is written.
inline constexpr char32_t blank_letter = 0x2581;
inline constexpr std::string_view blank_mark = "\xE2\x96\x81";

}  // namespace assay::text
