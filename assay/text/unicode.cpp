#include "assay/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>

#include <assay/error.h>
#include "assay/support/ascii.h"

namespace assay::text {
namespace {

utf8proc_category_t category_of(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

int combining_class(char32_t code) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class;
}

// The characters of the full decomposition of one: at most 18 of them.
struct Decomposition {
  std::array<utf8proc_int32_t, 32> codes;
  std::size_t size = 0;
};
Decomposition decomposition_of(char32_t code, bool compatible) {
  Decomposition result;
  int boundary = 0;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                      (compatible ? UTF8PROC_COMPAT : 0));
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), result.codes.data(),
                              static_cast<utf8proc_ssize_t>(result.codes.size()), options, &boundary);
  if (count < 1 || count > static_cast<utf8proc_ssize_t>(result.codes.size()))
    fail(Fault::internal, "the decomposition of U+{:04X} has {} characters", static_cast<unsigned>(code),
         count);
  result.size = static_cast<std::size_t>(count);
  return result;
}

// Characters in canonical order: marks after each other by their class.
std::vector<Change> decomposed(std::string_view text, bool compatible) {
  std::vector<Change> all;
  std::size_t sorted = 0;
  const auto sort_marks = [&] {
    std::stable_sort(all.begin() + sorted, all.end(), [](const Change& a, const Change& b) {
      return combining_class(a.code) < combining_class(b.code);
    });
  };
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    at += character.length;
    const Decomposition parts = decomposition_of(character.code, compatible);
    for (std::size_t i = 0; i < parts.size; ++i) {
      const auto code = static_cast<char32_t>(parts.codes[i]);
      if (combining_class(code) == 0) {
        sort_marks();
        sorted = all.size() + 1;
      }
      all.push_back({code, i == 0 ? 0 : 1});
    }
  }
  sorted = std::min(sorted, all.size());
  sort_marks();
  return all;
}

std::optional<char32_t> composition(char32_t first, char32_t second) {
  std::array<utf8proc_int32_t, 3> codes{static_cast<utf8proc_int32_t>(first),
                                        static_cast<utf8proc_int32_t>(second), 0};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  if (utf8proc_normalize_utf32(codes.data(), 2, options) != 1) return std::nullopt;
  return static_cast<char32_t>(codes[0]);
}

// The canonical composition of what is decomposed and in order.
std::vector<Change> composed(const std::vector<Change>& parts) {
  std::vector<Change> all;
  std::optional<std::size_t> starter;
  int last_class = -1;  // of what stands between starter and here; -1: nothing
  for (const Change& part : parts) {
    const int own_class = combining_class(part.code);
    if (starter && last_class < own_class) {
      if (const auto one = composition(all[*starter].code, part.code)) {
        all[*starter] = {*one, all[*starter].change + part.change - 1};
        continue;
      }
    }
    if (own_class == 0) starter = all.size();
    last_class = own_class == 0 ? -1 : own_class;
    all.push_back(part);
  }
  return all;
}

bool is_inert(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return byte_of(c) < 0x80; });
}

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return char32_t{byte_of(text[at + i])}; };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xE0) return {(first & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (first < 0xF0) return {(first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}

bool is_white_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
         code == 0x205F || code == 0x3000;
}

bool is_number(char32_t code) {
  const auto category = category_of(code);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t code) {
  if (code < 0x80)
    return (code > 0x20 && code < 0x30) || (code > 0x39 && code < 0x41) || (code > 0x5A && code < 0x61) ||
           (code > 0x7A && code < 0x7F);
  const auto category = category_of(code);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_mark(char32_t code) {
  const auto category = category_of(code);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t code) { return category_of(code) == UTF8PROC_CATEGORY_MN; }

bool is_control(char32_t code) {
  const auto category = category_of(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO;
}

char32_t small_letter(char32_t code) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
}

char32_t capital(char32_t code) {
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code)));
}

std::vector<Change> lower_case(char32_t code) {
  // The one character whose lower case is two.
  if (code == 0x130) return {{U'i', 0}, {0x307, 1}};
  return {{static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))), 0}};
}

std::vector<Change> normal_form(std::string_view text, NormalForm form) {
  if (is_inert(text)) {
    std::vector<Change> same;
    for (const char c : text) same.push_back({static_cast<char32_t>(c), 0});
    return same;
  }
  auto parts = decomposed(text, form == NormalForm::nfkc || form == NormalForm::nfkd);
  return form == NormalForm::nfd || form == NormalForm::nfkd ? parts : composed(parts);
}

std::size_t grapheme_end(std::string_view text, std::size_t at) {
  utf8proc_int32_t state = 0;
  Character character = character_at(text, at);
  for (at += character.length; at < text.size(); at += character.length) {
    const Character next = character_at(text, at);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(character.code),
                                         static_cast<utf8proc_int32_t>(next.code), &state))
      return at;
    character = next;
  }
  return at;
}

}  // namespace assay::text
