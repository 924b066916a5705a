#pragma once

// Texts as the numbers of tokens, as networks of language take them: the file tokenizer.json of the library
// `tokenizers`, or a .model of SentencePiece (docs/text.md), read without these libraries, with the same
// result.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::text {

// Characters of a text, from `begin` up to `end`.
struct Offsets {
  std::size_t begin = 0, end = 0;
  friend bool operator==(const Offsets&, const Offsets&) = default;
};

// A text, or two, as tokens; all lists have an element a token.
struct Encoding {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> types;      // 0, and 1 for the second of two texts
  std::vector<std::int64_t> attention;  // 1, and 0 for padding
  std::vector<std::int64_t> special;    // 1 for what is not of the text
  std::vector<std::string> tokens;
  std::vector<Offsets> offsets;  // into the text that the token is of; 0, 0 for special ones
  // The number of the piece of text between splits, usually a word; -1 for special tokens.
  std::vector<std::int64_t> words;

  std::size_t size() const { return ids.size(); }
};

struct TokenizerOptions {
  bool special = true;  // put the file's special tokens around texts
  // Cut what is longer, with special tokens kept, and fill up what is shorter. Without it, what the file says
  // of truncation and padding holds.
  std::optional<std::size_t> length = std::nullopt;
};

// Immutable; all functions are thread-safe. Copies share the vocabulary.
class Tokenizer {
 public:
  // A file tokenizer.json, the folder that holds it, or a file NAME.model of SentencePiece, which puts no
  // special tokens around texts. Throws Error{io}, Error{data} naming what is wrong in the file, and
  // Error{unsupported} for a part that Assay does not know and for random tokens (dropout).
  explicit Tokenizer(const std::filesystem::path& path);
  // The contents of such a file; `name` stands in messages.
  Tokenizer(std::string_view json, const std::string& name);

  // Throws Error{data} for bytes that are not UTF-8, for a text of more than 2^28 bytes, and where the
  // vocabulary has no token for a part of the text and none for unknown ones.
  Encoding encode(std::string_view text, const TokenizerOptions& options = {}) const;
  // Two texts that are compared, such as a premise and a hypothesis.
  Encoding encode(std::string_view text, std::string_view second, const TokenizerOptions& options = {}) const;
  // The text of tokens. Numbers that are not in the vocabulary are left out. `special`: with special tokens.
  std::string decode(std::span<const std::int64_t> ids, bool special = false) const;

  std::optional<std::int64_t> id(const std::string& token) const;
  std::optional<std::string> token(std::int64_t id) const;
  // Tokens, with those that are added to the model's.
  std::size_t size() const;
  // One above the greatest number of a token: rows that a network's embedding needs.
  std::size_t numbers() const;
  bool is_special(std::int64_t id) const;
  // The token that fills up: as the file's padding says, or config.json or generation_config.json in its
  // folder, or a special token that is usual for it, or the one that ends texts.
  std::optional<std::int64_t> padding() const;
  // The most tokens that the file's truncation leaves.
  std::optional<std::size_t> longest() const;
  const std::string& name() const;  // for messages

 private:
  struct Parts;
  static std::shared_ptr<Parts> parts_in(std::string_view json, const std::string& name);
  std::shared_ptr<const Parts> parts_;
};

}  // namespace assay::text
