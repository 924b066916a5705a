#include "assay/text/words.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "assay/support/text/characters.h"
#include "assay/text/byte_letters.h"

namespace assay::text {
namespace {

constexpr std::string_view byte_space = "Ġ", plain_space = "▁";

bool begins_with_space(std::string_view token) {
  return token.starts_with(byte_space) || token.starts_with(plain_space);
}

bool is_space(std::string_view token) { return token == byte_space || token == plain_space; }

// Whether a token begins a character of Chinese or Japanese, which have no spaces: U+3000 to U+9FFF, by the
// first of its bytes in UTF-8. `of_bytes`: the token is written in letters that stand for bytes.
bool begins_without_space(std::string_view token, bool of_bytes) {
  if (token.starts_with("##")) token.remove_prefix(2);
  if (token.empty()) return false;
  if (const auto byte = byte_written(token)) return *byte >= 0xE3 && *byte <= 0xE9;
  auto first = static_cast<unsigned char>(token[0]);
  if (of_bytes) {
    const auto letters = character_codes(token);
    const auto byte = letters ? byte_of_letter(letters->front()) : std::nullopt;
    if (!byte) return false;
    first = *byte;
  }
  return first >= 0xE3 && first <= 0xE9;
}

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
  // The sign is a letter like others where it is not decoded as a space.
  const auto means_space = [&](std::string_view sign) {
    const std::optional<std::int64_t> id = tokenizer.id(std::string(sign));
    return id && tokenizer.decode(std::span(&*id, 1)).find(sign) == std::string::npos;
  };
  const bool of_bytes = means_space(byte_space);
  const bool spaced =
      of_bytes || means_space(plain_space) ||
      std::ranges::any_of(tokens, [](const auto& token) { return token && begins_with_space(*token); });
  std::vector<Word> words;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool piece = i > 0 && !stands_alone(i) && !stands_alone(i - 1) &&
                       (tokens[i]->starts_with("##") || (spaced && !begins_with_space(*tokens[i]))) &&
                       (is_space(*tokens[i - 1]) || !begins_without_space(*tokens[i], of_bytes));
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
