#pragma once

// Letters and digits of ASCII, whatever the locale, and bytes of texts.

#include <algorithm>
#include <cstdint>
#include <string>

namespace assay::inline support {

// From 0 to 255, where a char may be negative.
constexpr std::uint8_t byte_of(char c) { return static_cast<std::uint8_t>(c); }

// Whether it is a byte of UTF-8 that does not begin a character.
constexpr bool continues_character(char c) { return (byte_of(c) & 0xC0) == 0x80; }

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return is_capital(c) || (c >= 'a' && c <= 'z'); }
constexpr bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

constexpr char lower_case(char c) { return is_capital(c) ? static_cast<char>(c + ('a' - 'A')) : c; }
constexpr char upper_case(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c; }
inline std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return lower_case(c); });
  return text;
}
inline std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return upper_case(c); });
  return text;
}

}  // namespace assay::inline support
