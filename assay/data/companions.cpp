#include "assay/data/companions.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include <assay/error.h>
#include "assay/support/text/nesting.h"
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

// What names a record.
std::string record_key(const std::string& name) {
  const std::string file = fs::path(name).filename().string();
  return (fs::path(name).parent_path() / file.substr(0, file.find('.'))).generic_string();
}

std::string without_blanks_around(const std::string& text) {
  constexpr const char* blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

ClassLabels classes_of_texts(const std::vector<std::string>& texts, const std::string& data) {
  constexpr std::int64_t too_great = 1'000'000;
  ClassLabels found;
  for (const std::string& text : texts) {
    if (!number_of<double>(text)) break;  // names
    const auto number = number_of<std::int64_t>(text);
    if (!number || *number < 0 || *number >= too_great)
      fail(Fault::data,
           "{}: '{}' in a .cls file is not a class number; classes are whole numbers from 0 to 999999, or "
           "names",
           data, text);
    found.labels.push_back(*number);
  }
  if (found.labels.size() == texts.size()) return found;
  const std::set<std::string> names(texts.begin(), texts.end());
  found = {.labels = {}, .class_names = {names.begin(), names.end()}};
  for (const std::string& text : texts)
    found.labels.push_back(std::ranges::lower_bound(found.class_names, text) - found.class_names.begin());
  return found;
}

}  // namespace

bool Companions::takes(const std::string& name) const {
  return name.ends_with(".cls") || (objects_ && name.ends_with(".json"));
}

void Companions::add(const std::string& name, std::size_t file) {
  (name.ends_with(".cls") ? class_files_ : object_files_).emplace(record_key(name), file);
}

std::optional<ClassLabels> Companions::classes(std::span<const std::string> pictures,
                                               const Read& read) const {
  if (class_files_.empty()) return std::nullopt;
  std::vector<std::string> texts;
  for (const std::string& picture : pictures) {
    const auto found = class_files_.find(record_key(picture));
    if (found == class_files_.end())
      fail(Fault::data, "{}: other pictures have their class in a .cls file, '{}' has no '{}.cls'", data_,
           picture, record_key(picture));
    texts.push_back(without_blanks_around(read(found->second)));
    if (texts.back().empty()) fail(Fault::data, "{}: '{}.cls' is empty", data_, record_key(picture));
  }
  return classes_of_texts(texts, data_);
}

std::optional<std::vector<std::string>> Companions::column(const std::string& name,
                                                           std::span<const std::string> pictures,
                                                           const Read& read) const {
  bool known = false;
  std::vector<std::string> texts;
  for (const std::string& picture : pictures) {
    texts.emplace_back();
    const auto found = object_files_.find(record_key(picture));
    if (found == object_files_.end()) continue;
    const std::string text = read(found->second);
    if (nesting_of_json(text) > most_nested)
      fail(Fault::data, "{}: '{}.json' is nested deeper than {} levels", data_, record_key(picture),
           most_nested);
    const auto object = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object())
      fail(Fault::data, "{}: '{}.json' is not a JSON object", data_, record_key(picture));
    const auto value = object.find(name);
    if (value == object.end()) continue;
    known = true;
    if (!value->is_null()) texts.back() = value->is_string() ? value->get<std::string>() : value->dump();
  }
  return known ? std::optional(texts) : std::nullopt;
}

}  // namespace assay::inline data
