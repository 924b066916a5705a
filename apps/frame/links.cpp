#include "apps/frame/links.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "assay/support/ascii.h"
#include "assay/support/text/uri.h"

namespace assay::frame {
namespace {

namespace fs = std::filesystem;

std::string encoded(const fs::path& file) {
  return encoded_path(fs::absolute(file).lexically_normal().string());
}

// With the name of the machine, by which a terminal knows whether a file is on its own one.
std::string link_of(std::string_view name) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("\033]8;;file://{}{}\033\\{}\033]8;;\033\\", host.data(), encoded(name), name);
}

bool is_in_names(char c) {
  return byte_of(c) >= 0x80 || is_alphanumeric(c) ||
         std::string_view("_./-+=~@%").find(c) != std::string_view::npos;
}

bool is_page(std::string_view name) {
  std::error_code code;
  return name.ends_with(".html") && fs::is_regular_file(name, code);
}

// The end of what stands at `at`: a sequence that sets colours, a name, or one character.
std::size_t end_of_part(std::string_view text, std::size_t at) {
  if (text[at] == '\033') return std::min(text.find('m', at), text.size() - 1) + 1;
  std::size_t end = at;
  while (end < text.size() && is_in_names(text[end])) ++end;
  while (end > at && text[end - 1] == '.') --end;  // of a sentence
  return std::max(end, at + 1);
}

}  // namespace

std::string address_of(const fs::path& file) { return "file://" + encoded(file); }

bool links_are_shown(bool terminal) {
  if (const char* const forced = std::getenv("FORCE_HYPERLINK"); forced != nullptr && *forced != '\0')
    return std::string_view(forced) != "0";
  const char* const kind = std::getenv("TERM");
  return terminal && std::getenv("NO_COLOR") == nullptr && kind != nullptr &&
         std::string_view(kind) != "dumb";
}

std::string with_links(std::string_view text) {
  std::string linked;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_part(text, at);
    const std::string_view part = text.substr(at, end - at);
    linked += is_page(part) ? link_of(part) : std::string(part);
    at = end;
  }
  return linked;
}

}  // namespace assay::frame
