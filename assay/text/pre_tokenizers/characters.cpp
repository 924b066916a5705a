// Pre-tokenizers that split where characters of some kind are.

#include "assay/text/pre_tokenizers/catalogue.h"

namespace assay::text {
namespace {

class DigitsPreTokenizer final : public PreTokenizer {
 public:
  explicit DigitsPreTokenizer(const Settings& settings)
      : behavior_(settings.flag("individual_digits") ? SplitBehavior::isolated : SplitBehavior::contiguous) {}
  void split(std::vector<TextPiece>& pieces) const override {
    split_pieces(pieces, [&](const AlignedText& text) {
      return split_by(text, character_pattern(is_number), behavior_);
    });
  }

 private:
  SplitBehavior behavior_;
};

class PunctuationPreTokenizer final : public PreTokenizer {
 public:
  explicit PunctuationPreTokenizer(const Settings& settings)
      : behavior_(settings.has("behavior") ? settings.behavior("behavior") : SplitBehavior::isolated) {}
  void split(std::vector<TextPiece>& pieces) const override {
    split_pieces(pieces, [&](const AlignedText& text) {
      return split_by(text, character_pattern(is_punctuation), behavior_);
    });
  }

 private:
  SplitBehavior behavior_;
};

class WhitespaceSplitPreTokenizer final : public PreTokenizer {
 public:
  explicit WhitespaceSplitPreTokenizer(const Settings&) {}
  void split(std::vector<TextPiece>& pieces) const override {
    split_pieces(pieces, [](const AlignedText& text) {
      return split_by(text, character_pattern(is_white_space), SplitBehavior::removed);
    });
  }
};

// White space goes, punctuation stands alone.
class BertPreTokenizer final : public PreTokenizer {
 public:
  explicit BertPreTokenizer(const Settings&) {}
  void split(std::vector<TextPiece>& pieces) const override {
    split_pieces(pieces, [](const AlignedText& text) {
      return split_by(text, character_pattern(is_white_space), SplitBehavior::removed);
    });
    split_pieces(pieces, [](const AlignedText& text) {
      return split_by(text, character_pattern(is_punctuation), SplitBehavior::isolated);
    });
  }
};

class DelimiterPreTokenizer final : public PreTokenizer {
 public:
  explicit DelimiterPreTokenizer(const Settings& settings) : delimiter_(settings.character("delimiter")) {}
  void split(std::vector<TextPiece>& pieces) const override {
    split_pieces(pieces, [&](const AlignedText& text) {
      return split_by(text, character_pattern([&](char32_t code) { return code == delimiter_; }),
                      SplitBehavior::removed);
    });
  }

 private:
  char32_t delimiter_;
};

class FixedLengthPreTokenizer final : public PreTokenizer {
 public:
  explicit FixedLengthPreTokenizer(const Settings& settings) : length_(settings.number("length", 5)) {
    if (length_ == 0) settings.refuse("'length' is 0");
  }
  void split(std::vector<TextPiece>& pieces) const override {
    split_pieces(pieces, [&](const AlignedText& text) { return cut(text); });
  }

 private:
  std::vector<AlignedText> cut(const AlignedText& text) const {
    std::vector<AlignedText> parts;
    std::size_t begin = 0, characters = 0;
    for (std::size_t at = 0; at < text.text().size();) {
      at += character_at(text.text(), at).length;
      if (++characters % length_ != 0 && at < text.text().size()) continue;
      parts.push_back(text.slice({begin, at}));
      begin = at;
    }
    return parts;
  }

  std::size_t length_;
};

}  // namespace

PartInfo<PreTokenizer> digits_pre_tokenizer() {
  return part_info<PreTokenizer, DigitsPreTokenizer>("Digits", "numbers apart from other characters");
}
PartInfo<PreTokenizer> punctuation_pre_tokenizer() {
  return part_info<PreTokenizer, PunctuationPreTokenizer>("Punctuation", "splits at punctuation");
}
PartInfo<PreTokenizer> whitespace_split_pre_tokenizer() {
  return part_info<PreTokenizer, WhitespaceSplitPreTokenizer>("WhitespaceSplit", "splits at white space");
}
PartInfo<PreTokenizer> bert_pre_tokenizer() {
  return part_info<PreTokenizer, BertPreTokenizer>("BertPreTokenizer",
                                                   "splits at white space and punctuation");
}
PartInfo<PreTokenizer> delimiter_pre_tokenizer() {
  return part_info<PreTokenizer, DelimiterPreTokenizer>("CharDelimiterSplit", "splits at one character");
}
PartInfo<PreTokenizer> fixed_length_pre_tokenizer() {
  return part_info<PreTokenizer, FixedLengthPreTokenizer>("FixedLength", "as many characters each");
}

}  // namespace assay::text
