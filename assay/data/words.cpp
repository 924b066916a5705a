#include "assay/data/words.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>

#include <assay/error.h>
#include "assay/support/text/characters.h"
#include "assay/text/unicode.h"

namespace assay::inline data {
namespace {

std::vector<char32_t> codes_of(const std::string& text) {
  const auto codes = character_codes(text);
  if (!codes) fail(Fault::data, "'{}' is not UTF-8", text);
  return *codes;
}

std::string changed(const std::string& text, char32_t (*change)(char32_t)) {
  std::string made;
  for (const char32_t code : codes_of(text)) made += character_of(change(code));
  return made;
}

std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> made;
  for (const char32_t code : codes_of(text)) made.push_back(character_of(code));
  return made;
}

// Calls visit(begin, end) for every match that is not empty; where it returns false, the next match may begin
// at the next character.
template <typename Visit>
void each_match(const re2::RE2& expression, const std::string& text, Visit visit) {
  re2::StringPiece match;
  for (std::size_t at = 0; at < text.size();) {
    if (!expression.Match(text, at, text.size(), re2::RE2::UNANCHORED, &match, 1)) return;
    const std::size_t begin = match.data() - text.data();
    const bool taken = !match.empty() && visit(begin, begin + match.size());
    at = begin + (taken ? match.size() : text::character_at(text, std::min(begin, text.size() - 1)).length);
  }
}

std::vector<std::string> matches(const re2::RE2& expression, const std::string& text, std::int64_t shortest) {
  std::vector<std::string> found;
  each_match(expression, text, [&](std::size_t begin, std::size_t end) {
    std::string part = text.substr(begin, end - begin);
    if (std::ssize(codes_of(part)) < shortest) return false;
    found.push_back(std::move(part));
    return true;
  });
  return found;
}

std::vector<std::string> between(const re2::RE2& expression, const std::string& text) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  each_match(expression, text, [&](std::size_t begin, std::size_t end) {
    parts.push_back(text.substr(from, begin - from));
    from = end;
    return true;
  });
  parts.push_back(text.substr(from));
  return parts;
}

std::unique_ptr<re2::RE2> compiled(const std::string& expression) {
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_longest_match(true);
  auto made = std::make_unique<re2::RE2>(expression, options);
  if (!made->ok())
    fail(Fault::unsupported, "the network cuts texts by '{}', which is not a regular expression: {}",
         expression, made->error());
  return made;
}

}  // namespace

WordMaker::WordMaker(const std::vector<WordRule>& rules) : rules_(rules) {
  for (const WordRule& rule : rules_)
    for (const std::string& expression : rule.expressions) expressions_.push_back(compiled(expression));
}

WordMaker::~WordMaker() = default;

std::vector<std::string> WordMaker::words(std::string text) const {
  std::size_t first = 0;
  for (const WordRule& rule : rules_) {
    if (rule.kind == WordRule::Kind::small_letters) text = changed(text, text::small_letter);
    if (rule.kind == WordRule::Kind::capitals) text = changed(text, text::capital);
    if (rule.makes_words()) return cut(rule, first, text);
    first += rule.expressions.size();
  }
  return {text};
}

std::vector<std::string> WordMaker::cut(const WordRule& rule, std::size_t first,
                                        const std::string& text) const {
  std::vector<std::string> words{text};
  if (rule.kind == WordRule::Kind::characters) words = characters_of(text);
  if (rule.kind == WordRule::Kind::tokens) words = matches(*expressions_[first], text, rule.shortest);
  for (std::size_t i = 0; rule.kind == WordRule::Kind::separators && i < rule.expressions.size(); ++i) {
    std::vector<std::string> parts;
    for (const std::string& word : words)
      std::ranges::move(between(*expressions_[first + i], word), std::back_inserter(parts));
    words = std::move(parts);
  }
  std::erase_if(words, [&](const std::string& word) {
    return word.empty() || std::ssize(codes_of(word)) < rule.shortest;
  });
  if (!rule.marked) return words;
  words.insert(words.begin(), std::string(mark_of_begin));
  words.emplace_back(mark_of_end);
  return words;
}

WordTable::WordTable(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    numbers_.emplace(word, static_cast<std::int64_t>(numbers_.size()) + 1);
}

std::int64_t WordTable::number(const std::string& word) const {
  const auto found = numbers_.find(word);
  return found == numbers_.end() ? 0 : found->second;
}

}  // namespace assay::inline data
