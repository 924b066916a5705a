#include "assay/text/words.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "assay/support/ascii.h"
#include "assay/support/text/characters.h"
#include "assay/text/byte_letters.h"

namespace assay::text {
namespace {

constexpr std::string_view byte_space = "Ġ", plain_space = "▁";

// Whether a token begins a character of Chinese or Japanese, which have no spaces, by its first bytes in
// UTF-8: U+3000 to U+9FFF, signs of full width (U+FF00 to U+FFBF), rare characters (U+20000 to U+33FFF).
// `of_bytes`: the token is written in letters that stand for bytes.
bool begins_without_space(std::string_view token, bool of_bytes) {
  if (token.empty()) return false;
  std::vector<unsigned char> bytes;
  if (const auto written = byte_written(token)) {
    bytes = {*written};
  } else if (of_bytes) {
    for (const char32_t letter : character_codes(token).value_or(std::vector<char32_t>())) {
      if (const auto meant = byte_of_letter(letter)) bytes.push_back(*meant);
      if (bytes.size() == 2) break;
    }
  } else {
    for (const char one : token.substr(0, 2)) bytes.push_back(byte_of(one));
  }
  if (bytes.empty()) return false;
  const auto second_is = [&](int low, int high) {
    return bytes.size() > 1 && bytes[1] >= low && bytes[1] <= high;
  };
  return (bytes[0] >= 0xE3 && bytes[0] <= 0xE9) || (bytes[0] == 0xEF && second_is(0xBC, 0xBE)) ||
         (bytes[0] == 0xF0 && second_is(0xA0, 0xB3));
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
  // Whether the sign is decoded as a space, or is a letter like others; nothing where the vocabulary does not
  // have it by itself.
  const auto means_space = [&](std::string_view sign) -> std::optional<bool> {
    const std::optional<std::int64_t> id = tokenizer.id(std::string(sign));
    if (!id) return std::nullopt;
    return tokenizer.decode(std::span(&*id, 1)).find(sign) == std::string::npos;
  };
  const std::optional<bool> byte_sign = means_space(byte_space), plain_sign = means_space(plain_space);
  const bool of_bytes = byte_sign.value_or(false), plain = plain_sign.value_or(false);
  const bool by_byte_sign = byte_sign.value_or(!plain), by_plain_sign = plain_sign.value_or(!of_bytes);
  const auto begins_with_space = [&](std::string_view token) {
    return (by_byte_sign && token.starts_with(byte_space)) ||
           (by_plain_sign && token.starts_with(plain_space));
  };
  const auto is_space = [&](std::string_view token) {
    return (by_byte_sign && token == byte_space) || (by_plain_sign && token == plain_space);
  };
  const bool spaced = of_bytes || plain || std::ranges::any_of(tokens, [&](const auto& token) {
                        return token && begins_with_space(*token);
                      });
  std::vector<Word> words;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool piece = i > 0 && !stands_alone(i) && !stands_alone(i - 1) &&
                       (tokens[i]->starts_with("##") ||
                        (spaced && !begins_with_space(*tokens[i]) &&
                         (is_space(*tokens[i - 1]) || !begins_without_space(*tokens[i], of_bytes))));
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
