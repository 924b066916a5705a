#include "assay/report/escape.h"

#include <fmt/format.h>

#include <cstdint>

namespace assay::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// Length of the valid UTF-8 sequence at the beginning, 0 when there is none (overlong, surrogate, beyond
// U+10FFFF).
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  if (length < 3) return length;
  const unsigned char second = at(1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return wrong ? 0 : length;
}

// Calls `write` with each valid character, or with U+FFFD.
template <typename Write>
std::string for_each_character(std::string_view bytes, Write write) {
  std::string result;
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    write(result, length == 0 ? replacement : bytes.substr(0, length));
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

bool is_control(std::string_view c) {
  return c.size() == 1 && (static_cast<unsigned char>(c[0]) < 0x20 || c[0] == 0x7F);
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  return for_each_character(bytes, [](std::string& out, std::string_view c) { out += c; });
}

std::string xml_escaped(std::string_view bytes) {
  return for_each_character(bytes, [](std::string& out, std::string_view c) {
    if (c == "&")
      out += "&amp;";
    else if (c == "<")
      out += "&lt;";
    else if (c == ">")
      out += "&gt;";
    else if (c == "\"")
      out += "&quot;";
    else if (c == "'")
      out += "&apos;";
    else if (c == "\n" || c == "\t" || c == "\r")
      out += fmt::format("&#{};", static_cast<int>(c[0]));
    else if (is_control(c) || c == "\xEF\xBF\xBE" || c == "\xEF\xBF\xBF")
      out += replacement;
    else
      out += c;
  });
}

std::string markdown_escaped(std::string_view bytes) {
  constexpr std::string_view markup = "\\`*_{}[]()#+!|~";
  return for_each_character(bytes, [&](std::string& out, std::string_view c) {
    if (c == "&")
      out += "&amp;";
    else if (c == "<")
      out += "&lt;";
    else if (c == ">")
      out += "&gt;";
    else if (c == "@")
      out += "@\xE2\x80\x8B";  // a space without width, so that nobody is notified
    else if (is_control(c))
      out += ' ';
    else if (markup.find(c) != std::string_view::npos)
      (out += '\\') += c;
    else
      out += c;
  });
}

}  // namespace assay::report
