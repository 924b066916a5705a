#include "assay/model/folder.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <assay/error.h>
#include "assay/model/named.h"
#include "assay/support/files/config_json.h"
#include "assay/support/text/named.h"
#include "assay/support/text/parse.h"

namespace assay::inline model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_labels = 1'000'000;

bool is_folder(const fs::path& path) {
  std::error_code code;
  return fs::is_directory(path, code);
}

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

std::vector<fs::path> networks_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    if (entry.path().extension() == ".onnx") found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

// Exporters write LABEL_0, LABEL_1, ... where classes have no names.
bool stands_for_none(const std::vector<std::string>& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != fmt::format("LABEL_{}", i)) return false;
  }
  return true;
}

std::vector<std::string> labels_of(const nlohmann::json& names, const std::string& file) {
  if (!names.is_object() || names.size() > most_labels)
    fail(Fault::data, "{}: id2label is not an object of names by number", file);
  std::vector<std::string> labels(names.size());
  for (const auto& [key, name] : names.items()) {
    const auto number = number_of<std::size_t>(key);
    if (!number || *number >= labels.size() || !name.is_string())
      fail(Fault::data, "{}: id2label: '{}' is not the number of a class from 0 to {} with its name", file,
           key, labels.size() - 1);
    labels[*number] = name.get<std::string>();
  }
  if (std::set<std::string>(labels.begin(), labels.end()).size() != labels.size())
    fail(Fault::data, "{}: id2label: two classes have the same name", file);
  return stands_for_none(labels) ? std::vector<std::string>() : labels;
}

// The first of these members that is a whole number above 0.
std::int64_t number_in(const nlohmann::json& config, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const auto found = config.find(name);
    if (found != config.end() && found->is_number_integer() && found->get<std::int64_t>() > 0)
      return found->get<std::int64_t>();
  }
  return 0;
}

// Networks made like RoBERTa number positions from the one after that of padding.
std::int64_t unused_positions(const nlohmann::json& config) {
  constexpr std::array<std::string_view, 6> kinds{"roberta",   "xlm-roberta", "xlm-roberta-xl",
                                                  "camembert", "mpnet",       "longformer"};
  const auto kind = config.find("model_type");
  if (kind == config.end() || !kind->is_string() ||
      std::ranges::find(kinds, kind->get_ref<const std::string&>()) == kinds.end())
    return 0;
  return number_in(config, {"pad_token_id"}) + 1;
}

bool is_written_alike(std::string_view a, std::string_view b) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, small, small);
}

}  // namespace

std::optional<fs::path> network_in(const fs::path& folder) {
  for (const fs::path& place : {folder, folder / "onnx"}) {
    if (is_there(place / "model.onnx")) return place / "model.onnx";
    const std::vector<fs::path> found = networks_in(place);
    if (found.size() == 1) return found.front();
    if (found.empty()) continue;
    std::vector<std::string> names;
    for (const fs::path& file : found) names.push_back(file.filename().string());
    fail(Fault::usage, "{} holds several networks and no model.onnx; name the file of one: {}",
         place.string(), fmt::join(names, ", "));
  }
  return std::nullopt;
}

std::optional<fs::path> folder_of_network(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (is_named(name)) {
    const std::string folder = folder_of_named_network(name);
    return folder.empty() ? std::nullopt : std::optional<fs::path>(folder);
  }
  const fs::path path = name;
  if (is_folder(path)) return path;
  fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (folder.filename() == "onnx") folder = folder / "..";
  if (is_there(folder / "config.json") || is_there(folder / "tokenizer.json")) return folder;
  return std::nullopt;
}

std::optional<TextConfig> read_text_config(const fs::path& folder) {
  const fs::path file = folder / "config.json";
  if (!is_there(file)) return std::nullopt;
  const nlohmann::json config = read_config_json(file);
  TextConfig text;
  if (const auto kind = config.find("model_type"); kind != config.end() && kind->is_string())
    text.kind = kind->get<std::string>();
  if (const auto names = config.find("id2label"); names != config.end() && !names->is_null())
    text.labels = labels_of(*names, file.string());
  text.vocabulary = number_in(config, {"vocab_size"});
  text.positions = number_in(config, {"n_positions", "max_position_embeddings"});
  if (text.positions > 0)
    text.positions = std::max<std::int64_t>(1, text.positions - unused_positions(config));
  return text;
}

std::optional<std::size_t> class_called(const std::string& name, const std::vector<std::string>& labels) {
  auto found = std::ranges::find(labels, name);
  if (found == labels.end())
    found = std::ranges::find_if(labels, [&](const auto& label) { return is_written_alike(label, name); });
  return found == labels.end() ? std::nullopt : std::optional<std::size_t>(found - labels.begin());
}

}  // namespace assay::inline model
