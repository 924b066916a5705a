#include "assay/text/encodings.h"

#include <algorithm>
#include <span>

#include "assay/text/byte_letters.h"

namespace assay::text {
namespace {

template <typename T>
void append_list(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <typename T>
std::vector<T> list_part(const std::vector<T>& all, std::size_t begin, std::size_t end) {
  const auto part = std::span(all).subspan(begin, end - begin);
  return {part.begin(), part.end()};
}

}  // namespace

void append(Encoding& to, const Encoding& from) {
  append_list(to.ids, from.ids);
  append_list(to.types, from.types);
  append_list(to.attention, from.attention);
  append_list(to.special, from.special);
  append_list(to.tokens, from.tokens);
  append_list(to.offsets, from.offsets);
  append_list(to.words, from.words);
}

void append_special(Encoding& to, const SpecialToken& token, std::int64_t type) {
  to.ids.push_back(token.id);
  to.types.push_back(type);
  to.attention.push_back(1);
  to.special.push_back(1);
  to.tokens.push_back(token.text);
  to.offsets.push_back({});
  to.words.push_back(-1);
}

Encoding part_of(const Encoding& all, std::size_t begin, std::size_t end) {
  return {.ids = list_part(all.ids, begin, end),
          .types = list_part(all.types, begin, end),
          .attention = list_part(all.attention, begin, end),
          .special = list_part(all.special, begin, end),
          .tokens = list_part(all.tokens, begin, end),
          .offsets = list_part(all.offsets, begin, end),
          .words = list_part(all.words, begin, end)};
}

Encoding joined_encodings(const std::vector<Encoding>& parts) {
  Encoding all;
  for (const Encoding& part : parts) append(all, part);
  return all;
}

void trim_offsets(Encoding& encoding, bool blank) {
  const char32_t letter = letter_of_byte(' ');
  const auto is_space = [&](const Change& c) { return c.code == letter || is_white_space(c.code); };
  for (std::size_t i = 0; i < encoding.size(); ++i) {
    const std::vector<Change> characters = unchanged(encoding.tokens[i]);
    auto& [begin, end] = encoding.offsets[i];
    auto leading =
        static_cast<std::size_t>(std::ranges::find_if_not(characters, is_space) - characters.begin());
    const auto trailing = static_cast<std::size_t>(
        std::find_if_not(characters.rbegin(), characters.rend(), is_space) - characters.rbegin());
    // The blank that was put before the text stands for nothing.
    if (leading == 1 && blank && (i == 0 || begin == 0)) leading = 0;
    begin = std::min(begin + leading, end);
    if (trailing > 0 && end >= trailing) end = std::max(end - trailing, begin);
  }
}

}  // namespace assay::text
