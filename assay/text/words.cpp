#include "assay/text/words.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace assay::text {
namespace {

bool begins_with_space(std::string_view token) { return token.starts_with("Ġ") || token.starts_with("▁"); }

std::string without_spaces(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::vector<Word> words_of(const Tokenizer& tokenizer, std::span<const std::int64_t> ids) {
  std::vector<std::optional<std::string>> tokens;
  for (const std::int64_t id : ids) tokens.push_back(tokenizer.token(id));
  const auto stands_alone = [&](std::size_t i) { return !tokens[i] || tokenizer.is_special(ids[i]); };
  const bool spaced =
      std::ranges::any_of(tokens, [](const auto& token) { return token && begins_with_space(*token); });
  std::vector<Word> words;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool piece = i > 0 && !stands_alone(i) && !stands_alone(i - 1) &&
                       (tokens[i]->starts_with("##") || (spaced && !begins_with_space(*tokens[i])));
    if (!piece) words.push_back({i, i, {}});
    words.back().end = i + 1;
  }
  for (Word& word : words) {
    if (stands_alone(word.begin)) {
      word.text = tokens[word.begin].value_or(fmt::format("#{}", ids[word.begin]));
      continue;
    }
    word.text = without_spaces(tokenizer.decode(ids.subspan(word.begin, word.end - word.begin)));
    if (word.text.empty()) word.text = *tokens[word.begin];
  }
  return words;
}

}  // namespace assay::text
