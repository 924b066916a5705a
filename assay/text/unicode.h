#pragma once

// What Unicode says of characters, and its normal forms with what became of each character.

#include <cstddef>
#include <string_view>
#include <vector>

namespace assay::text {

// REQUIRES valid UTF-8 and a position where a character begins.
struct Character {
  char32_t code = 0;
  std::size_t length = 0;  // bytes
};
Character character_at(std::string_view text, std::size_t at);

bool is_white_space(char32_t code);
bool is_number(char32_t code);
bool is_punctuation(char32_t code);  // every ASCII symbol as well
bool is_mark(char32_t code);
bool is_nonspacing_mark(char32_t code);
bool is_control(char32_t code);  // controls, formats, private use

// A character of a new text, and how it follows from the old one: 0 replaces one character, 1 is inserted
// before the next one, -n replaces one character and removes the n after it.
struct Change {
  char32_t code = 0;
  int change = 0;
};

// One or two characters.
std::vector<Change> lower_case(char32_t code);
// One character for each, itself where it has no such form.
char32_t small_letter(char32_t code);
char32_t capital(char32_t code);

enum class NormalForm { nfc, nfd, nfkc, nfkd };
std::vector<Change> normal_form(std::string_view text, NormalForm form);

// Where the grapheme cluster that begins at `at` ends. REQUIRES at < text.size().
std::size_t grapheme_end(std::string_view text, std::size_t at);

}  // namespace assay::text
