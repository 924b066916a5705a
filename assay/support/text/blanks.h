#pragma once

// Blanks around texts that people write.

#include <string>
#include <string_view>

namespace assay::inline support {

constexpr std::string_view blanks = " \t\r\n";

inline std::string without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

}  // namespace assay::inline support
