#pragma once

// The letters that stand for bytes in vocabularies of bytes, as GPT-2 has chosen them: bytes that are seen
// stand for themselves, others for U+0100 and the letters after it.

#include <optional>
#include <string>
#include <string_view>

#include "assay/text/aligned_text.h"

namespace assay::text {

char32_t letter_of_byte(unsigned char byte);
std::optional<unsigned char> byte_of_letter(char32_t letter);

// The byte that a token such as <0xC3> stands for.
std::optional<unsigned char> byte_written(std::string_view token);

// Puts the letters of its bytes in place of each character.
void put_byte_letters(AlignedText& text);

}  // namespace assay::text
