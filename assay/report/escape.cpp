#include "assay/report/escape.h"

#include <fmt/format.h>

#include "assay/support/text/visible.h"

namespace assay::report {
namespace {

// The character as XML and HTML show it, where it stands for markup there; empty: it stands for itself.
std::string_view entity(std::string_view c) {
  return c == "&" ? "&amp;" : c == "<" ? "&lt;" : c == ">" ? "&gt;" : "";
}

bool is_line_or_tab(std::string_view c) { return c == "\n" || c == "\t" || c == "\r"; }

}  // namespace

std::string xml_escaped(std::string_view bytes) {
  return for_each_character(bytes, [](std::string& out, std::string_view c) {
    if (!entity(c).empty())
      out += entity(c);
    else if (c == "\"")
      out += "&quot;";
    else if (c == "'")
      out += "&apos;";
    else if (is_line_or_tab(c))
      out += fmt::format("&#{};", static_cast<int>(c[0]));
    else if (!shown_character(c).empty())
      out += shown_character(c);
    else if (c == "\xEF\xBF\xBE" || c == "\xEF\xBF\xBF")
      out += replacement_character;
    else
      out += c;
  });
}

std::string markdown_escaped(std::string_view bytes) {
  constexpr std::string_view markup = "\\`*_{}[]()#+!|~";
  return for_each_character(bytes, [&](std::string& out, std::string_view c) {
    if (!entity(c).empty())
      out += entity(c);
    else if (c == "@")
      out += "@\xE2\x80\x8B";  // a space without width, so that no one is notified
    else if (is_line_or_tab(c))
      out += ' ';
    else if (!shown_character(c).empty())
      out += "\\" + shown_character(c);
    else if (markup.find(c) != std::string_view::npos)
      (out += '\\') += c;
    else
      out += c;
  });
}

}  // namespace assay::report
