#pragma once

// Tokens as the words of which they are pieces.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <assay/tokenizer.h>

namespace assay::text {

// Tokens from `begin` up to `end`.
struct Word {
  std::size_t begin = 0, end = 0;
  std::string text;
};

// A piece belongs to the word before where the vocabulary says so: it begins with ##, or the vocabulary has
// the sign of a space (Ġ, ▁), or others of the same tokens begin with it, and it does not. Chinese and
// Japanese have no spaces: there a token that begins with a whole character, or the first of its bytes, is a
// word. Special tokens are words by themselves, as they stand in the vocabulary, and so are numbers that it
// does not have ("#42").
std::vector<Word> words_of(const Tokenizer& tokenizer, std::span<const std::int64_t> ids);

}  // namespace assay::text
