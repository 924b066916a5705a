#include "assay/text/pattern.h"

#include <algorithm>
#include <utility>

#include "assay/text/unicode.h"

namespace assay::text {
namespace {

std::vector<PartOfText> inverted_order(std::vector<PartOfText> parts) {
  std::ranges::reverse(parts);
  return parts;
}

// Every match joins the part before it, unless that is a match as well.
template <typename Join>
std::vector<Range> joined_matches(const std::vector<PartOfText>& parts, Join join) {
  std::vector<Range> ranges;
  bool previous = false;
  for (const auto& [range, matched] : parts) {
    if (matched && !previous && !ranges.empty())
      join(ranges.back(), range);
    else
      ranges.push_back(range);
    previous = matched;
  }
  return ranges;
}

std::vector<Range> contiguous_ranges(const std::vector<PartOfText>& parts) {
  std::vector<Range> ranges;
  bool previous = false;
  for (const auto& [range, matched] : parts) {
    if (matched == previous && !ranges.empty())
      ranges.back().end = range.end;
    else
      ranges.push_back(range);
    previous = matched;
  }
  return ranges;
}

}  // namespace

Pattern literal_pattern(std::string content) {
  return [content = std::move(content)](std::string_view text, std::size_t from) -> std::optional<Range> {
    const std::size_t at = text.find(content, from);
    if (at == std::string_view::npos) return std::nullopt;
    return Range{at, at + content.size()};
  };
}

Pattern character_pattern(std::function<bool(char32_t)> is_wanted) {
  return [is_wanted = std::move(is_wanted)](std::string_view text, std::size_t from) -> std::optional<Range> {
    while (from < text.size()) {
      const Character character = character_at(text, from);
      if (is_wanted(character.code)) return Range{from, from + character.length};
      from += character.length;
    }
    return std::nullopt;
  };
}

std::vector<PartOfText> parts_by(std::string_view text, const Pattern& pattern) {
  if (text.empty()) return {{}};
  std::vector<PartOfText> parts;
  std::size_t from = 0, done = 0;
  std::optional<std::size_t> last;  // where the last match ended
  while (from <= text.size()) {
    const auto match = pattern(text, from);
    if (!match) break;
    from = match->end;
    // An empty match right after another one is none.
    if (match->begin == match->end && last == match->end) {
      from += from < text.size() ? character_at(text, from).length : 1;
      continue;
    }
    last = match->end;
    if (done != match->begin) parts.push_back({{done, match->begin}, false});
    parts.push_back({*match, true});
    done = match->end;
  }
  if (done != text.size()) parts.push_back({{done, text.size()}, false});
  return parts;
}

std::vector<Range> split_ranges(std::vector<PartOfText> parts, SplitBehavior behavior) {
  if (behavior == SplitBehavior::contiguous) return contiguous_ranges(parts);
  if (behavior == SplitBehavior::merged_with_previous)
    return joined_matches(parts, [](Range& before, const Range& match) { before.end = match.end; });
  if (behavior == SplitBehavior::merged_with_next) {
    auto ranges = joined_matches(inverted_order(std::move(parts)),
                                 [](Range& after, const Range& match) { after.begin = match.begin; });
    std::ranges::reverse(ranges);
    return ranges;
  }
  std::vector<Range> ranges;
  for (const auto& [range, matched] : parts) {
    if (!matched || behavior == SplitBehavior::isolated) ranges.push_back(range);
  }
  return ranges;
}

}  // namespace assay::text
