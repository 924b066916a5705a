#include "assay/support/files/toml_file.h"

#include <fmt/format.h>

#include <utility>

#include <assay/error.h>
#include "assay/support/files/input_file.h"

namespace assay::inline support {
namespace {

// The parser goes down into a name as deep as it has parts.
void refuse_long_names(const std::filesystem::path& file, const std::string& text) {
  constexpr std::size_t most_parts = 32;
  std::size_t dots = 0, line = 1;
  char within = '\n';  // a quote or a comment that has begun; a line end: none
  for (const char c : text) {
    if (c == '\n') ++line;
    if (c == '\n' || c == within) {
      within = '\n';
    } else if (within == '\n' && std::string_view("\"'#").find(c) != std::string_view::npos) {
      within = c == '#' ? '\0' : c;
    }
    if (within != '\n') continue;
    if (std::string_view("=,{}[]\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots > most_parts)
      fail(Fault::usage, "{}:{}: a name of more than {} parts", file.string(), line, most_parts);
  }
}

}  // namespace

std::string place_in(const std::filesystem::path& file, const toml::node& node) {
  return fmt::format("{}:{}", file.string(), node.source().begin.line);
}

toml::table read_toml(const std::filesystem::path& file) {
  const std::string text = read_stream(file, 1 << 24);
  refuse_long_names(file, text);
  try {
    return toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    fail(Fault::usage, "{}:{}: {}", file.string(), error.source().begin.line, error.description());
  }
}

toml::table read_configuration(const std::filesystem::path& file) {
  toml::table whole = read_toml(file);
  if (file.filename() != "pyproject.toml") return whole;
  toml::table* const own = whole["tool"]["assay"].as_table();
  if (own == nullptr) fail(Fault::usage, "{} has no table [tool.assay]", file.string());
  return std::move(*own);  // a copy would forget the lines of its entries
}

bool has_configuration(const std::filesystem::path& pyproject) {
  const toml::table whole = read_toml(pyproject);
  const toml::table* const own = whole["tool"]["assay"].as_table();
  return own != nullptr && !own->empty();
}

std::string text_of(const std::filesystem::path& file, const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto truth = node.value_exact<bool>()) return *truth ? "true" : "false";
  if (const auto integer = node.value_exact<std::int64_t>()) return std::to_string(*integer);
  if (const auto real = node.value_exact<double>()) return fmt::format("{}", *real);
  fail(Fault::usage, "{}: a text, number, truth value or list of them is needed", place_in(file, node));
}

std::vector<std::string> texts_of(const std::filesystem::path& file, const toml::node& node) {
  const toml::array* const list = node.as_array();
  if (list == nullptr) return {text_of(file, node)};
  std::vector<std::string> texts;
  for (const toml::node& item : *list) texts.push_back(text_of(file, item));
  return texts;
}

}  // namespace assay::inline support
