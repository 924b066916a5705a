#pragma once

// Texts as the numbers that Unicode gives their characters.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::inline support {

// REQUIRES one character in valid UTF-8.
char32_t character_code(std::string_view character);

// Nothing where the bytes are not UTF-8.
std::optional<std::vector<char32_t>> character_codes(std::string_view utf8);

// The character of this number. REQUIRES one that character_code() gives.
std::string character_of(char32_t code);

}  // namespace assay::inline support
