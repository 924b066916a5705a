#include "assay/text/settings.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <utility>

#include "assay/support/text/characters.h"
#include "assay/support/text/text.h"

namespace assay::text {
namespace {

// Parts within parts, such as sequences of normalizers.
constexpr int deepest = 16;

}  // namespace

Settings::Settings(const nlohmann::json& value, std::string where, int depth)
    : value_(value), where_(std::move(where)), depth_(depth) {
  if (!value_.is_object()) refuse("this is not a JSON object");
  if (depth_ > deepest) refuse("more than {} parts lie within each other", deepest);
}

const nlohmann::json& Settings::at(const std::string& key) const {
  if (!has(key)) refuse("'{}' is missing", key);
  return value_.at(key);
}

// "t.json: model.vocab"
std::string Settings::place_of(const std::string& key) const {
  return where_ + (depth_ == 0 ? ": " : ".") + key;
}

bool Settings::has(const std::string& key) const {
  const auto it = value_.find(key);
  return it != value_.end() && !it->is_null();
}

std::string Settings::text(const std::string& key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_string()) refuse("'{}' is not a text", key);
  return value.get<std::string>();
}

std::string Settings::text(const std::string& key, std::string fallback) const {
  return has(key) ? text(key) : std::move(fallback);
}

bool Settings::flag(const std::string& key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_boolean()) refuse("'{}' is neither true nor false", key);
  return value.get<bool>();
}

bool Settings::flag(const std::string& key, bool fallback) const { return has(key) ? flag(key) : fallback; }

std::uint32_t Settings::number(const std::string& key) const {
  return whole_number(at(key), fmt::format("{}: '{}'", where_, key));
}

std::uint32_t Settings::number(const std::string& key, std::uint32_t fallback) const {
  return has(key) ? number(key) : fallback;
}

char32_t Settings::character(const std::string& key) const {
  const auto codes = character_codes(text(key));
  if (!codes || codes->size() != 1) refuse("'{}' is not one character", key);
  return codes->front();
}

Settings Settings::part(const std::string& key) const { return {at(key), place_of(key), depth_ + 1}; }

std::vector<Settings> Settings::parts(const std::string& key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_array()) refuse("'{}' is not a list", key);
  std::vector<Settings> all;
  for (const nlohmann::json& item : value)
    all.emplace_back(item, fmt::format("{}[{}]", place_of(key), all.size()), depth_ + 1);
  return all;
}

Pattern Settings::pattern(const std::string& key) const {
  const Settings both = part(key);
  if (both.has("String")) return literal_pattern(both.text("String"));
  if (both.has("Regex")) return regex_pattern(both.text("Regex"), both.where());
  both.refuse("there is neither 'String' nor 'Regex'");
}

SplitBehavior Settings::behavior(const std::string& key) const {
  const std::string name = text(key);
  const std::pair<const char*, SplitBehavior> all[] = {
      {"Removed", SplitBehavior::removed},
      {"Isolated", SplitBehavior::isolated},
      {"MergedWithPrevious", SplitBehavior::merged_with_previous},
      {"MergedWithNext", SplitBehavior::merged_with_next},
      {"Contiguous", SplitBehavior::contiguous}};
  std::vector<std::string> names;
  for (const auto& [known, behavior] : all) {
    if (name == known) return behavior;
    names.emplace_back(known);
  }
  refuse("there is no behavior '{}'{}; there are {}", name, did_you_mean(name, names), joined(names));
}

std::uint32_t whole_number(const nlohmann::json& value, const std::string& what) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    fail(Fault::data, "{} is not a whole number from 0 to {}", what, most);
  return value.get<std::uint32_t>();
}

}  // namespace assay::text
