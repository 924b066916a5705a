#include "assay/workbench/query/named_text.h"

#include <filesystem>
#include <tuple>

#include <assay/error.h>
#include "assay/support/text/parse.h"

namespace assay::workbench {
namespace {

// A number where the text is one.
report::Cell value_of(const std::string& text) {
  if (const auto whole = number_of<std::int64_t>(text)) return *whole;
  if (const auto real = number_of<double>(text)) return *real;
  return text;
}

}  // namespace

std::pair<std::string, std::string> named_file(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return {text.substr(0, equals), text.substr(equals + 1)};
  // One in memory is "@net".
  return {std::filesystem::path(text.substr(text.starts_with('@') ? 1 : 0)).stem().string(), text};
}

NamedModel parse_model(const std::string& text) {
  NamedModel model;
  std::vector<std::string> parts = parts_of(text, ",");
  std::tie(model.name, model.file) = named_file(parts.front());
  parts.erase(parts.begin());
  for (const std::string& part : parts) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      fail(Fault::usage, "{} {}: '{}' is not an attribute such as epoch=3",
           About{"network known as", "{model}"}, text, part);
    if (part.starts_with("weights="))
      model.file += "," + part;
    else
      model.attributes[part.substr(0, equals)] = value_of(part.substr(equals + 1));
  }
  return model;
}

}  // namespace assay::workbench
