#pragma once

// The character map that SentencePiece compiles: a double-array trie over bytes, whose values are positions
// in a list of replacements that end with zeros.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::text {

class CharacterMap {
 public:
  // Throws Error{data}; `where` stands in messages.
  CharacterMap(const std::string& bytes, const std::string& where);

  struct Replacement {
    std::string_view with;
    std::size_t bytes = 0;  // that are replaced
  };
  // What stands for the shortest, and for the longest, beginning of `text` that is in the map. The longest
  // one is of whole characters.
  std::optional<Replacement> shortest(std::string_view text) const { return find(text, true); }
  std::optional<Replacement> longest(std::string_view text) const { return find(text, false); }

 private:
  std::optional<Replacement> find(std::string_view text, bool first) const;
  std::optional<std::string_view> replacement(std::uint32_t at) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace assay::text
