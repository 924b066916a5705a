#include "assay/data/files/xml.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include <assay/error.h>
#include "assay/support/text/blanks.h"
#include "assay/support/text/characters.h"
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

class XmlParser {
 public:
  XmlParser(std::string_view text, const std::string& file) : whole_(text), rest_(text), file_(file) {}

  XmlElement document() {
    take("\xEF\xBB\xBF");
    skip_between();
    XmlElement root = element(0);
    skip_between();
    if (!rest_.empty()) refuse("there is text after the root element");
    return root;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    const std::string_view read = whole_.substr(0, whole_.size() - rest_.size());
    fail(Fault::data, "{}: line {}: {}", file_, 1 + std::ranges::count(read, '\n'), what);
  }

  bool take(std::string_view start) {
    if (!rest_.starts_with(start)) return false;
    rest_.remove_prefix(start.size());
    return true;
  }

  // Up to `end`, which also goes.
  std::string_view take_until(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) refuse(fmt::format("'{}' is missing", end));
    const std::string_view taken = rest_.substr(0, at);
    rest_.remove_prefix(at + end.size());
    return taken;
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size())); }

  bool skip_comment() {
    if (take("<!--")) {
      take_until("-->");
    } else if (take("<?")) {
      take_until("?>");
    } else {
      return false;
    }
    return true;
  }

  void skip_between() {
    do {
      skip_blanks();
    } while (skip_comment());
  }

  std::string name() {
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n/>=<"), rest_.size());
    if (end == 0) refuse("the name of an element is missing");
    std::string found(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return found;
  }

  // To the end of the opening tag; whether the element is empty.
  bool skip_attributes() {
    for (;;) {
      skip_blanks();
      if (take("/>")) return true;
      if (take(">")) return false;
      name();
      skip_blanks();
      if (!take("=")) refuse("an attribute has no value");
      skip_blanks();
      const bool single = take("'");
      if (!single && !take("\"")) refuse("the value of an attribute must be in quotes");
      take_until(single ? "'" : "\"");
    }
  }

  XmlElement element(int depth) {
    constexpr int most_deep = 32;
    constexpr int most_elements = 100'000;
    if (rest_.starts_with("<!DOCTYPE"))
      refuse("a document type is not read, since it may define entities without end; remove it");
    if (!take("<")) refuse("an element is missing");
    if (depth > most_deep) refuse(fmt::format("elements are nested more than {} deep", most_deep));
    if (++elements_ > most_elements) refuse(fmt::format("there are more than {} elements", most_elements));
    XmlElement found{name()};
    if (!skip_attributes()) fill(found, depth);
    found.text = without_blanks(found.text);
    return found;
  }

  void fill(XmlElement& into, int depth) {
    while (!take("</")) {
      if (skip_comment()) continue;
      if (take("<![CDATA[")) {
        into.text += take_until("]]>");
      } else if (rest_.starts_with("<")) {
        into.children.push_back(element(depth + 1));
      } else {
        characters(into.text);
      }
    }
    const std::string closed = name();
    skip_blanks();
    if (closed != into.name || !take(">")) refuse(fmt::format("<{}> is closed by </{}>", into.name, closed));
  }

  void characters(std::string& text) {
    const std::size_t end = rest_.find_first_of("<&");
    if (end == std::string_view::npos) refuse("an element is never closed");
    text += rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (take("&")) entity(text);
  }

  void entity(std::string& text) {
    static const std::map<std::string_view, char> known = {
        {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    const std::string_view name = take_until(";");
    if (const auto found = known.find(name); found != known.end()) {
      text += found->second;
      return;
    }
    const std::optional<std::uint32_t> code =
        name.starts_with('#') ? number_of<std::uint32_t>(name.substr(1)) : std::nullopt;
    if (!code || *code == 0 || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000))
      refuse(fmt::format("the entity '&{};' is not one of lt, gt, amp, quot, apos and #NUMBER",
                         name.substr(0, 20)));
    text += character_of(*code);
  }

  std::string_view whole_, rest_;
  const std::string& file_;
  int elements_ = 0;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view wanted) const {
  const auto found = std::ranges::find(children, wanted, &XmlElement::name);
  return found == children.end() ? nullptr : &*found;
}

XmlElement parse_xml(std::string_view text, const std::string& file) {
  return XmlParser(text, file).document();
}

}  // namespace assay::inline data
