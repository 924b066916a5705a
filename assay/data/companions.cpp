#include "assay/data/companions.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include <assay/error.h>
#include "assay/support/text/blanks.h"
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
    texts.push_back(without_blanks(read(found->second)));
    if (texts.back().empty()) fail(Fault::data, "{}: '{}.cls' is empty", data_, record_key(picture));
  }
  return classes_of_texts(texts, data_ + ": label of a .cls file");
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
