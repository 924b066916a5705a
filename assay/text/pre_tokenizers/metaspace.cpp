// Words of SentencePiece: a letter stands for the blank before each.

#include "assay/text/metaspace.h"

#include "assay/support/text/characters.h"
#include "assay/text/pre_tokenizers/catalogue.h"

namespace assay::text {
namespace {

class MetaspacePreTokenizer final : public PreTokenizer {
 public:
  explicit MetaspacePreTokenizer(const Settings& settings)
      : rule_(settings), letter_(character_of(rule_.letter)) {}

  void split(std::vector<TextPiece>& pieces) const override {
    split_pieces(pieces, [&](AlignedText text) {
      text.replace(literal_pattern(" "), letter_);
      const bool wanted = rule_.prepend == Metaspace::Prepend::always ||
                          (rule_.prepend == Metaspace::Prepend::first && text.begin() == 0);
      if (wanted && !text.text().starts_with(letter_)) text.prepend(letter_);
      std::vector<AlignedText> parts;
      if (rule_.split)
        parts = split_by(text, literal_pattern(letter_), SplitBehavior::merged_with_next);
      else
        parts.push_back(std::move(text));
      return parts;
    });
  }

 private:
  Metaspace rule_;
  std::string letter_;
};

}  // namespace

PartInfo<PreTokenizer> metaspace_pre_tokenizer() {
  return part_info<PreTokenizer, MetaspacePreTokenizer>("Metaspace",
                                                        "words with a letter for the blank before");
}

}  // namespace assay::text
