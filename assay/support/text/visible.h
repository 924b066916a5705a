#pragma once

// Texts from files and command lines, which may hold any bytes, for people to look at.

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace assay::inline support {

// Valid UTF-8 in which nothing acts on a terminal or on how text around it is read: control characters, line
// ends and changes of direction are shown as \x1b or \u202e, but for those in `kept`.
std::string visible(std::string_view bytes, std::string_view kept = {});

// How a character that acts in this way is shown; empty for all others. REQUIRES valid UTF-8 of one
// character.
std::string shown_character(std::string_view character);

// A field of a comma-separated table: visible(), and no formula to a spreadsheet, which takes texts that
// begin with =, +, - or @ for one; an apostrophe stands before these. Quoted where it has to be.
std::string csv_field(std::string_view text);

// Length of the valid UTF-8 sequence at the beginning, 0 when there is none (overlong, surrogate, beyond
// U+10FFFF).
std::size_t utf8_length(std::string_view bytes);

inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

// Calls `write` with the result so far and each valid character, or U+FFFD for each byte that begins none.
template <typename Write>
std::string for_each_character(std::string_view bytes, Write write) {
  std::string result;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    write(result, length == 0 ? replacement_character : bytes.substr(0, length));
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace assay::inline support
