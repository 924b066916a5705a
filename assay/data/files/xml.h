#pragma once

// The part of XML that annotation tools write: elements, text, comments. No document types, hence no entities
// but the five that XML itself has and numbered characters; attributes are passed over.

#include <string>
#include <string_view>
#include <vector>

namespace assay::inline data {

struct XmlElement {
  std::string name;
  std::string text = {};  // of its own, without blanks around it
  std::vector<XmlElement> children = {};

  // The first child of the name, or nullptr.
  const XmlElement* child(std::string_view name) const;
};

// The root. `file` stands in messages. Throws Error{data} naming file and line for all that is not of this
// part, elements nested more than 32 deep, and more than 100,000 of them.
XmlElement parse_xml(std::string_view text, const std::string& file);

}  // namespace assay::inline data
