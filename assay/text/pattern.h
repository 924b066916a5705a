#pragma once

// Patterns that divide a text, and what becomes of the parts.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::text {

// Bytes of a text.
struct Range {
  std::size_t begin = 0, end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// The first match at or after a position.
using Pattern = std::function<std::optional<Range>(std::string_view text, std::size_t from)>;

Pattern literal_pattern(std::string content);
Pattern character_pattern(std::function<bool(char32_t)> is_wanted);
// An expression in the syntax of Oniguruma as Ruby uses it, which tokenizers are written in, as far as PCRE2
// can say the same. `where` stands in messages. Throws Error{unsupported} for what it cannot, Error{data} for
// what is not an expression; matching throws Error{resources} where it would take too long.
Pattern regex_pattern(const std::string& expression, const std::string& where);
// As above, in the syntax of PCRE2.
Pattern pcre_pattern(const std::string& expression, const std::string& where);

// One part after the other, matched or not; all of them together are the text.
struct PartOfText {
  Range range;
  bool matched = false;
};
std::vector<PartOfText> parts_by(std::string_view text, const Pattern& pattern);

// What becomes of the parts that match.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

std::vector<Range> split_ranges(std::vector<PartOfText> parts, SplitBehavior behavior);

}  // namespace assay::text
