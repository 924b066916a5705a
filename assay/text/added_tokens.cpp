#include "assay/text/added_tokens.h"

#include <algorithm>

#include "assay/support/ascii.h"
#include "assay/support/text/characters.h"

namespace assay::text {
namespace {

// The bytes of white space at the beginning, or at the end.
std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Character character = character_at(text, at);
    if (!is_white_space(character.code)) break;
    at += character.length;
  }
  return at;
}

// Where the last character begins. REQUIRES a text that is not empty.
std::size_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (continues_character(text[at])) --at;
  return at;
}

std::size_t trailing_space(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    const std::size_t last = last_character(text.substr(0, end));
    if (!is_white_space(character_at(text, last).code)) break;
    end = last;
  }
  return text.size() - end;
}

}  // namespace

AddedTokens::AddedTokens(const Settings& settings, const TokenModel& model, const Normalizer* normalizer)
    : word_(pcre_pattern("[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]", settings.where())) {
  if (settings.has("added_tokens")) {
    auto next = static_cast<std::uint32_t>(model.size());
    for (const Settings& token : settings.parts("added_tokens")) add(token, model, normalizer, next);
  }
  std::vector<std::pair<std::string, std::uint32_t>> written, normalized;
  for (const auto& [id, token] : tokens_)
    (token.in_normalized ? normalized : written).emplace_back(token.normalized, id);
  as_written_ = PrefixTree(written);
  normalized_ = PrefixTree(normalized);
}

void AddedTokens::add(const Settings& settings, const TokenModel& model, const Normalizer* normalizer,
                      std::uint32_t& next) {
  settings.number("id");
  Added token{.content = settings.text("content"),
              .normalized = settings.text("content"),
              .single_word = settings.flag("single_word", false),
              .strip_left = settings.flag("lstrip", false),
              .strip_right = settings.flag("rstrip", false),
              .in_normalized = settings.flag("normalized", true)};
  if (token.content.empty()) return;
  if (token.in_normalized && normalizer) {
    AlignedText text(token.content);
    normalizer->normalize(text);
    token.normalized = text.text();
  }
  if (settings.flag("special", false)) special_.insert(token.content);
  auto number = id(token.content);
  if (!number) number = model.id(token.content);
  if (!number) number = next++;
  ids_[token.content] = *number;
  tokens_[*number] = std::move(token);
}

std::optional<std::uint32_t> AddedTokens::id(const std::string& token) const {
  const auto it = ids_.find(token);
  if (it == ids_.end()) return std::nullopt;
  return it->second;
}

std::optional<std::string> AddedTokens::token(std::uint32_t id) const {
  const auto it = tokens_.find(id);
  if (it == tokens_.end()) return std::nullopt;
  return it->second.normalized;
}

std::size_t AddedTokens::beyond(const TokenModel& model) const {
  return std::ranges::count_if(ids_, [&](const auto& token) { return !model.id(token.first); });
}

std::vector<TextPiece> AddedTokens::split(AlignedText text, const Normalizer* normalizer) const {
  std::vector<TextPiece> pieces;
  for (TextPiece& piece : split_at(text, as_written_)) {
    if (piece.added) {
      pieces.push_back(std::move(piece));
      continue;
    }
    if (normalizer) normalizer->normalize(piece.text);
    for (TextPiece& part : split_at(piece.text, normalized_)) pieces.push_back(std::move(part));
  }
  return pieces;
}

std::vector<TextPiece> AddedTokens::split_at(const AlignedText& text, const PrefixTree& tree) const {
  std::vector<TextPiece> pieces;
  for (const auto& [range, id] : find(text.text(), tree)) {
    TextPiece piece{text.slice(range)};
    if (piece.text.empty()) continue;
    if (id) piece.added = Token{*id, piece.text.text(), {0, piece.text.text().size()}};
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// The longest token at each place, from left to right.
std::vector<AddedTokens::Found> AddedTokens::find(const std::string& text, const PrefixTree& tree) const {
  std::vector<Found> all;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size() && !tree.empty();) {
    std::optional<Found> longest;
    tree.for_each(std::string_view(text).substr(at), [&](std::size_t bytes, std::uint32_t id) {
      longest = Found{{at, at + bytes}, id};
    });
    at = longest ? longest->range.end : at + 1;
    if (!longest) continue;
    const auto range = widened(text, longest->range, *longest->id, done);
    if (!range) continue;
    if (done < range->begin) all.push_back({{done, range->begin}});
    all.push_back({*range, longest->id});
    done = range->end;
  }
  if (done < text.size()) all.push_back({{done, text.size()}});
  return all;
}

// The token with the white space that it takes with it; nothing where it is a part of a word and must not be.
std::optional<Range> AddedTokens::widened(const std::string& text, Range match, std::uint32_t id,
                                          std::size_t from) const {
  const Added& token = tokens_.at(id);
  const std::string_view before = std::string_view(text).substr(0, match.begin),
                         after = std::string_view(text).substr(match.end);
  if (token.single_word) {
    const auto is_word = [&](std::string_view rest, std::size_t at) {
      const std::size_t length = character_at(rest, at).length;
      return word_(rest.substr(at, length), 0).has_value();
    };
    if (!before.empty() && is_word(before, last_character(before))) return std::nullopt;
    if (!after.empty() && is_word(after, 0)) return std::nullopt;
  }
  if (token.strip_left) match.begin = std::max(match.begin - trailing_space(before), from);
  if (token.strip_right) match.end += leading_space(after);
  return match;
}

}  // namespace assay::text
