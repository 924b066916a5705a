#include "apps/frame/wording.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::frame {
namespace {

constexpr char edge = '\0';  // of the parts of coded() text

// Of the beginning that has these characters only.
std::size_t length_of(std::string_view text, std::string_view characters) {
  return std::min(text.find_first_not_of(characters), text.size());
}

}  // namespace

std::string with_options(fmt::string_view format) {
  constexpr std::string_view names = "abcdefghijklmnopqrstuvwxyz0123456789-";
  constexpr std::string_view values = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string_view rest(format.data(), format.size());
  std::string coded;
  for (bool is_command = false; !rest.empty();) {
    const std::size_t name = length_of(rest.substr(std::min<std::size_t>(2, rest.size())), names);
    if (is_command || !rest.starts_with("--") || name == 0) {
      is_command ^= rest[0] == '`';
      coded += rest[0];
      rest.remove_prefix(1);
      continue;
    }
    const std::string_view option = rest.substr(2, name), behind = rest.substr(2 + name);
    const std::size_t value = behind.starts_with(' ') ? length_of(behind.substr(1), values) : 0;
    const std::string_view named = value == 0 ? std::string_view() : behind.substr(1, value);
    const std::size_t all = 2 + name + (value == 0 ? 0 : 1 + value);
    coded += edge + std::string(rest.substr(0, all)) + edge;
    coded += fmt::format("{{{{{}{}{}}}}}", option, value == 0 ? "" : "=", named) + edge;
    rest.remove_prefix(all);
  }
  return coded;
}

std::string with_flags(const Message& message) {
  return message.said([](std::string_view option, std::string_view value) {
    return fmt::format("--{}{}{}", option, value.empty() ? "" : " ", value);
  });
}

void put_flags(report::Document& document) {
  for (Message& notice : document.notices) notice = with_flags(notice);
  for (report::Warning& warning : document.warnings) {
    warning.text = with_flags(warning.text);
    warning.cause = with_flags(warning.cause);
  }
}

}  // namespace assay::frame
