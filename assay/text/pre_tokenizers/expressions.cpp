// Pre-tokenizers that split where an expression matches.

#include "assay/text/pre_tokenizers/catalogue.h"

namespace assay::text {
namespace {

std::vector<PartOfText> inverted(std::vector<PartOfText> parts) {
  for (PartOfText& part : parts) part.matched = !part.matched;
  return parts;
}

void split_at(std::vector<TextPiece>& pieces, const Pattern& pattern, bool invert, SplitBehavior behavior) {
  split_pieces(pieces, [&](const AlignedText& text) {
    auto found = parts_by(text.text(), pattern);
    std::vector<AlignedText> parts;
    for (const Range& range : split_ranges(invert ? inverted(std::move(found)) : std::move(found), behavior))
      parts.push_back(text.slice(range));
    return parts;
  });
}

class SplitPreTokenizer final : public PreTokenizer {
 public:
  explicit SplitPreTokenizer(const Settings& settings)
      : pattern_(settings.pattern("pattern")),
        behavior_(settings.behavior("behavior")),
        invert_(settings.flag("invert")) {}
  void split(std::vector<TextPiece>& pieces) const override {
    split_at(pieces, pattern_, invert_, behavior_);
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

// Words and what is neither word nor white space.
class WhitespacePreTokenizer final : public PreTokenizer {
 public:
  explicit WhitespacePreTokenizer(const Settings& settings)
      : pattern_(pcre_pattern("[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]+|"
                              "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}\\p{White_Space}]+",
                              settings.where())) {}
  void split(std::vector<TextPiece>& pieces) const override {
    split_at(pieces, pattern_, true, SplitBehavior::removed);
  }

 private:
  Pattern pattern_;
};

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(const Settings& settings) {
    for (const Settings& part : settings.parts("pretokenizers"))
      parts_.push_back(make_part(pre_tokenizers(), part));
  }
  void split(std::vector<TextPiece>& pieces) const override {
    for (const auto& part : parts_) part->split(pieces);
  }

 private:
  std::vector<std::unique_ptr<const PreTokenizer>> parts_;
};

}  // namespace

PartInfo<PreTokenizer> split_pre_tokenizer() {
  return part_info<PreTokenizer, SplitPreTokenizer>("Split", "splits where an expression matches");
}
PartInfo<PreTokenizer> whitespace_pre_tokenizer() {
  return part_info<PreTokenizer, WhitespacePreTokenizer>("Whitespace", "words, and what stands between them");
}
PartInfo<PreTokenizer> pre_tokenizer_sequence() {
  return part_info<PreTokenizer, PreTokenizerSequence>("Sequence", "pre-tokenizers one after the other");
}

}  // namespace assay::text
