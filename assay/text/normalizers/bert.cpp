// The normalizer of BERT (Devlin et al. 2019).

#include "assay/text/normalizers/catalogue.h"

namespace assay::text {
namespace {

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(const Settings& settings)
      : clean_(settings.flag("clean_text")),
        chinese_(settings.flag("handle_chinese_chars")),
        lower_(settings.flag("lowercase")),
        strip_(settings.flag("strip_accents", lower_)) {}

  void normalize(AlignedText& text) const override {
    if (clean_) clean(text);
    if (chinese_) put_blanks(text);
    if (strip_) strip(text);
    if (lower_) text.lower_case();
  }

 private:
  static bool is_line_space(char32_t c) { return c == U'\t' || c == U'\n' || c == U'\r'; }

  static void clean(AlignedText& text) {
    text.filter([](char32_t c) { return c != 0 && c != 0xFFFD && (is_line_space(c) || !is_control(c)); });
    text.map([](char32_t c) { return is_white_space(c) ? U' ' : c; });
  }

  static void strip(AlignedText& text) {
    text.transform(normal_form(text.text(), NormalForm::nfd));
    text.filter([](char32_t c) { return !is_nonspacing_mark(c); });
  }

  static bool is_chinese(char32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
           (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) ||
           (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
  }

  // Every Chinese character is a word.
  static void put_blanks(AlignedText& text) {
    std::vector<Change> changes;
    for (const Change& old : unchanged(text.text())) {
      if (is_chinese(old.code))
        changes.insert(changes.end(), {{U' ', 0}, {old.code, 1}, {U' ', 1}});
      else
        changes.push_back(old);
    }
    text.transform(changes);
  }

  bool clean_, chinese_, lower_, strip_;
};

}  // namespace

PartInfo<Normalizer> bert_normalizer() {
  return part_info<Normalizer, BertNormalizer>("BertNormalizer", "as BERT cleans texts");
}

}  // namespace assay::text
