// GPT-2's words (Radford et al. 2019), as letters that stand for their bytes.

#include "assay/text/byte_letters.h"
#include "assay/text/pre_tokenizers/catalogue.h"

namespace assay::text {
namespace {

constexpr const char* words_of_gpt2 =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

class ByteLevelPreTokenizer final : public PreTokenizer {
 public:
  explicit ByteLevelPreTokenizer(const Settings& settings) : blank_(settings.flag("add_prefix_space")) {
    if (settings.flag("use_regex", true)) words_ = regex_pattern(words_of_gpt2, settings.where());
  }

  void split(std::vector<TextPiece>& pieces) const override {
    split_pieces(pieces, [&](AlignedText text) {
      if (blank_ && !text.text().starts_with(' ')) text.prepend(" ");
      std::vector<AlignedText> parts;
      if (words_)
        parts = split_by(text, words_, SplitBehavior::isolated);
      else
        parts.push_back(std::move(text));
      for (AlignedText& part : parts) put_byte_letters(part);
      return parts;
    });
  }

 private:
  bool blank_;
  Pattern words_;  // none: no split
};

}  // namespace

PartInfo<PreTokenizer> byte_level_pre_tokenizer() {
  return part_info<PreTokenizer, ByteLevelPreTokenizer>("ByteLevel", "GPT-2's words as letters for bytes");
}

}  // namespace assay::text
