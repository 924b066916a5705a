#include "assay/support/text/visible.h"

#include <algorithm>
#include <array>
#include <optional>

#include "assay/support/ascii.h"

namespace assay::inline support {
namespace {

bool is_control_character(std::string_view c) {
  return c.size() == 1 && (byte_of(c[0]) < 0x20 || c[0] == 0x7F);
}

// U+0080 to U+009F, and what changes the direction of text or hides: U+061C, U+200B, U+200E, U+200F, U+2028
// to U+202E, U+2060 to U+2069, U+FEFF.
std::optional<unsigned> acting_character(std::string_view c) {
  const auto at = [&](std::size_t i) { return unsigned{byte_of(c[i])}; };
  const unsigned code = c.size() == 2   ? (at(0) & 0x1F) << 6 | (at(1) & 0x3F)
                        : c.size() == 3 ? (at(0) & 0x0F) << 12 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F)
                                        : 0;
  const auto within = [&](unsigned low, unsigned high) { return low <= code && code <= high; };
  const bool acts = within(0x80, 0x9F) || code == 0x61C || code == 0x200B || within(0x200E, 0x200F) ||
                    within(0x2028, 0x202E) || within(0x2060, 0x2069) || code == 0xFEFF;
  return acts ? std::optional(code) : std::nullopt;
}

// As ASCII and full-width characters, which spreadsheets of some languages take for the same.
bool begins_formula(std::string_view text) {
  const std::array<std::string_view, 8> signs{
      "=", "+", "-", "@", "\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D", "\xEF\xBC\xA0"};
  return std::ranges::any_of(signs, [&](std::string_view sign) { return text.starts_with(sign); });
}

}  // namespace

std::size_t utf8_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return byte_of(bytes[i]); };
  const unsigned char first = at(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues_character(bytes[i])) return 0;
  }
  if (length < 3) return length;
  const unsigned char second = at(1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return wrong ? 0 : length;
}

std::string shown_character(std::string_view c) {
  if (is_control_character(c)) return fmt::format("\\x{:02x}", byte_of(c[0]));
  const std::optional<unsigned> code = acting_character(c);
  return code ? fmt::format("\\u{:04x}", *code) : "";
}

std::string visible(std::string_view bytes, std::string_view kept) {
  const bool is_plain = std::ranges::all_of(bytes, [](char c) { return c >= 0x20 && c < 0x7F; });
  if (is_plain) return std::string(bytes);
  return for_each_character(bytes, [&](std::string& out, std::string_view c) {
    const std::string instead = shown_character(c);
    if (instead.empty() || kept.find(c) != std::string_view::npos)
      out += c;
    else
      out += instead;
  });
}

std::string csv_field(std::string_view bytes) {
  std::string text = visible(bytes, "\n");
  if (begins_formula(text)) text.insert(0, "'");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace assay::inline support
