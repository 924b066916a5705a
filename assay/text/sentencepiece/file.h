#pragma once

// Files of SentencePiece (`.model`): a protobuf message of pieces and of how texts are normalized
// (sentencepiece_model.proto of github.com/google/sentencepiece).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::text {

struct SentencePiece {
  enum class Type { normal = 1, unknown, control, user_defined, unused, byte };
  std::string text;
  float score = 0;
  Type type = Type::normal;
};

struct SentencePieceFile {
  enum class Kind { unigram = 1, bpe };

  std::string name;  // for messages
  std::vector<SentencePiece> pieces;
  std::size_t unknown = 0;  // the piece for what is in no other
  Kind kind = Kind::unigram;
  bool by_bytes = false;      // what is unknown becomes the pieces of its bytes
  bool blank_at_end = false;  // the blank is put after a text, not before it
  bool puts_blank = true;     // that stands for the beginning of a word
  bool joins_blanks = true;   // several blanks become one, and none is left at the ends
  bool marks_blanks = true;   // blanks become U+2581
  std::string character_map;  // compiled; empty: characters stay
};

// What the piece of a byte is called.
std::string byte_piece(unsigned byte);

// Throws Error{data} naming what is wrong, and Error{unsupported} for kinds of models and parts that Assay
// does not know.
SentencePieceFile read_sentencepiece(std::string_view bytes, const std::string& name);

}  // namespace assay::text
