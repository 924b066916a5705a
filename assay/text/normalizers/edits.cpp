// Normalizers that put in, take out or replace what a file says.

#include "assay/text/byte_letters.h"
#include "assay/text/normalizers/catalogue.h"

namespace assay::text {
namespace {

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(const Settings& settings) {
    for (const Settings& part : settings.parts("normalizers"))
      parts_.push_back(make_part(normalizers(), part));
  }
  void normalize(AlignedText& text) const override {
    for (const auto& part : parts_) part->normalize(text);
  }

 private:
  std::vector<std::unique_ptr<const Normalizer>> parts_;
};

class ReplaceNormalizer final : public Normalizer {
 public:
  explicit ReplaceNormalizer(const Settings& settings)
      : pattern_(settings.pattern("pattern")), content_(settings.text("content")) {}
  void normalize(AlignedText& text) const override { text.replace(pattern_, content_); }

 private:
  Pattern pattern_;
  std::string content_;
};

class PrependNormalizer final : public Normalizer {
 public:
  explicit PrependNormalizer(const Settings& settings) : before_(settings.text("prepend")) {}
  void normalize(AlignedText& text) const override { text.prepend(before_); }

 private:
  std::string before_;
};

class StripNormalizer final : public Normalizer {
 public:
  explicit StripNormalizer(const Settings& settings)
      : left_(settings.flag("strip_left")), right_(settings.flag("strip_right")) {}
  void normalize(AlignedText& text) const override { text.strip(left_, right_); }

 private:
  bool left_, right_;
};

class ByteLevelNormalizer final : public Normalizer {
 public:
  explicit ByteLevelNormalizer(const Settings&) {}
  void normalize(AlignedText& text) const override { put_byte_letters(text); }
};

// What SentencePiece does before its character maps.
class NmtNormalizer final : public Normalizer {
 public:
  explicit NmtNormalizer(const Settings&) {}
  void normalize(AlignedText& text) const override {
    text.filter([](char32_t c) { return !is_left_out(c); });
    text.map([](char32_t c) { return is_blank(c) ? U' ' : c; });
  }

 private:
  static bool is_left_out(char32_t c) {
    return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
  }
  static bool is_blank(char32_t c) {
    return c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
           c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
  }
};

}  // namespace

PartInfo<Normalizer> normalizer_sequence() {
  return part_info<Normalizer, NormalizerSequence>("Sequence", "normalizers one after the other");
}
PartInfo<Normalizer> replace_normalizer() {
  return part_info<Normalizer, ReplaceNormalizer>("Replace", "one text in place of what matches");
}
PartInfo<Normalizer> prepend_normalizer() {
  return part_info<Normalizer, PrependNormalizer>("Prepend", "a text before all others");
}
PartInfo<Normalizer> strip_normalizer() {
  return part_info<Normalizer, StripNormalizer>("Strip", "no white space at the ends");
}
PartInfo<Normalizer> byte_level_normalizer() {
  return part_info<Normalizer, ByteLevelNormalizer>("ByteLevel", "letters for bytes");
}
PartInfo<Normalizer> nmt_normalizer() {
  return part_info<Normalizer, NmtNormalizer>("Nmt", "controls left out, blanks for other white space");
}

}  // namespace assay::text
