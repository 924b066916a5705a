#include "assay/text/vocabulary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace assay::text {

Vocabulary::Vocabulary(const Settings& settings, const std::string& key) {
  const Settings words = settings.part(key);
  ids_.reserve(words.value().size());
  tokens_.reserve(words.value().size());
  for (const auto& [token, id] : words.value().items())
    add(token, whole_number(id, fmt::format("{}: the number of '{}'", words.where(), token)), words);
}

void Vocabulary::add(const std::string& token, std::uint32_t id, const Settings& settings) {
  if (token.size() > longest_token)
    settings.refuse("a token of {} bytes is not reasonable; at most {} are read", token.size(),
                    longest_token);
  const auto [other, is_new] = tokens_.emplace(id, token);
  if (!is_new) settings.refuse("'{}' and '{}' both have the number {}", other->second, token, id);
  ids_.insert_or_assign(token, id);
  greatest_ = std::max(greatest_, id);
  longest_ = std::max(longest_, token.size());
}

std::optional<std::uint32_t> Vocabulary::id(const std::string& token) const {
  const std::uint32_t* const found = find(token);
  if (!found) return std::nullopt;
  return *found;
}

const std::string* Vocabulary::token(std::uint32_t id) const {
  const auto it = tokens_.find(id);
  return it == tokens_.end() ? nullptr : &it->second;
}

}  // namespace assay::text
