#pragma once

// Texts that a network takes: in a Graph they are whole numbers of the words that the network knows, and how
// a text becomes words is known of the file alone.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <assay/element_type.h>

namespace assay::inline model {

// What one operator does with a text.
struct WordRule {
  enum class Kind : std::uint8_t { small_letters, capitals, characters, tokens, separators };
  Kind kind = Kind::characters;
  std::vector<std::string> expressions = {};  // of tokens or separators, in RE2's syntax
  std::int64_t shortest = 1;                  // characters of a token
  bool marked = false;                        // marks stand around the tokens

  bool makes_words() const { return kind >= Kind::characters; }
  friend bool operator==(const WordRule&, const WordRule&) = default;
};

// An input as the file has it.
struct FileInput {
  std::string name;
  DType dtype = DType::float32;  // of numbers
  bool is_text = false;
  int rank = 2;
  std::int64_t width = 1;                 // columns of a record; -1: any number
  std::vector<std::string> columns = {};  // their names, where the network knows them
};

// An input of the Graph that is made of a text: the number of every column of `from`, or those of the words
// of one column, one after the other.
struct WordInput {
  std::string name, from;
  std::optional<std::int64_t> column = {};
  std::vector<WordRule> rules = {};

  bool is_cut() const { return !rules.empty() && rules.back().makes_words(); }
};

// Texts that an operator takes alone: it fails for others.
struct Categories {
  std::string from;
  std::optional<std::int64_t> column = {};  // of the input; none: all of them
  std::vector<std::string> texts;           // ascending
  std::string node;                         // as it is described
};

struct TextInputs {
  std::vector<FileInput> given;
  std::vector<WordInput> made;  // in the order of the Graph's inputs
  std::vector<Categories> required = {};
  std::vector<std::string> words;  // ascending; the number of one is its position and 1, that of others is 0
};

inline constexpr std::string_view mark_of_begin = "\x02", mark_of_end = "\x03";

// Of a network that takes texts, or several columns of numbers. Throws as read_model() does, and Error{usage}
// where the network takes neither.
TextInputs text_inputs_of(const std::filesystem::path& network);

// "vocabulary 1a2b3c4d": equal for networks that make the same numbers of the same texts. Descriptions of
// data and notices of networks have it. Empty where there are no words.
std::string vocabulary_of(const TextInputs& texts);
// That which a description or a notice has; empty where there is none.
std::string vocabulary_in(const std::string& text);

}  // namespace assay::inline model
