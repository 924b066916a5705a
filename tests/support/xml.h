#pragma once

// Reads XML as far as JUnit files use it: elements, attributes, text, the five entities; no comments, no
// namespaces.

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

struct XmlElement {
  std::string name, text;
  std::map<std::string, std::string> attributes;
  std::vector<XmlElement> children;

  std::vector<const XmlElement*> all(const std::string& child) const {
    std::vector<const XmlElement*> found;
    for (const XmlElement& element : children) {
      if (element.name == child) found.push_back(&element);
    }
    return found;
  }
};

// Throws std::runtime_error for what is not well-formed.
class XmlReader {
 public:
  static XmlElement read(std::string_view text) {
    XmlReader reader(text);
    reader.expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    reader.skip_space();
    XmlElement root = reader.element();
    reader.skip_space();
    if (reader.at_ != text.size()) reader.fail("something follows the root element");
    return root;
  }

 private:
  explicit XmlReader(std::string_view text) : text_(text) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("XML, byte {}: {}", at_, what));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  void expect(std::string_view expected) {
    if (!take(expected)) fail(fmt::format("'{}' is needed", expected));
  }
  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') ++at_;
  }
  std::string name() {
    const std::size_t begin = at_;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '-' || peek() == '_' ||
           peek() == '.')
      ++at_;
    if (at_ == begin) fail("a name is needed");
    return std::string(text_.substr(begin, at_ - begin));
  }
  // Up to `end`, which stays.
  std::string characters(char end) {
    std::string result;
    while (peek() != end) {
      const auto byte = static_cast<unsigned char>(peek());
      if (at_ >= text_.size() || peek() == '<') fail("unexpected end or '<'");
      if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') fail("a control character");
      if (peek() == '&') {
        if (take("&amp;"))
          result += '&';
        else if (take("&lt;"))
          result += '<';
        else if (take("&gt;"))
          result += '>';
        else if (take("&quot;"))
          result += '"';
        else if (take("&apos;"))
          result += '\'';
        else
          fail("an entity that XML does not have");
      } else {
        result += text_[at_++];
      }
    }
    return result;
  }
  XmlElement element() {
    XmlElement element;
    expect("<");
    element.name = name();
    for (skip_space(); peek() != '>' && peek() != '/'; skip_space()) {
      const std::string key = name();
      expect("=\"");
      if (!element.attributes.emplace(key, characters('"')).second)
        fail("attribute " + key + " is there twice");
      expect("\"");
    }
    if (take("/>")) return element;
    expect(">");
    while (!take("</")) {
      if (peek() == '<')
        element.children.push_back(this->element());
      else
        element.text += characters('<');
    }
    expect(element.name + ">");
    return element;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace assay::test
