#include "assay/text/parts.h"

#include "assay/support/text/text.h"

namespace assay::text {

std::string joined_names(const std::vector<std::string>& names) { return joined(names); }

void split_pieces(std::vector<TextPiece>& pieces,
                  const std::function<std::vector<AlignedText>(AlignedText)>& split) {
  std::vector<TextPiece> all;
  all.reserve(pieces.size());
  for (TextPiece& piece : pieces) {
    if (piece.added) {
      all.push_back(std::move(piece));
      continue;
    }
    for (AlignedText& part : split(std::move(piece.text))) {
      if (!part.empty()) all.push_back({std::move(part)});
    }
  }
  pieces = std::move(all);
}

std::vector<AlignedText> split_by(const AlignedText& text, const Pattern& pattern, SplitBehavior behavior) {
  std::vector<AlignedText> parts;
  for (const Range& range : split_ranges(parts_by(text.text(), pattern), behavior))
    parts.push_back(text.slice(range));
  return parts;
}

}  // namespace assay::text
