// Unicode's normal forms, lower case, and marks that are left out.

#include "assay/text/normalizers/catalogue.h"

namespace assay::text {
namespace {

template <NormalForm form>
class NormalFormNormalizer final : public Normalizer {
 public:
  explicit NormalFormNormalizer(const Settings&) {}
  void normalize(AlignedText& text) const override { text.transform(normal_form(text.text(), form)); }
};

class LowercaseNormalizer final : public Normalizer {
 public:
  explicit LowercaseNormalizer(const Settings&) {}
  void normalize(AlignedText& text) const override { text.lower_case(); }
};

class StripAccentsNormalizer final : public Normalizer {
 public:
  explicit StripAccentsNormalizer(const Settings&) {}
  void normalize(AlignedText& text) const override {
    text.filter([](char32_t code) { return !is_mark(code); });
  }
};

}  // namespace

PartInfo<Normalizer> nfc_normalizer() {
  return part_info<Normalizer, NormalFormNormalizer<NormalForm::nfc>>("NFC", "canonical composition");
}
PartInfo<Normalizer> nfd_normalizer() {
  return part_info<Normalizer, NormalFormNormalizer<NormalForm::nfd>>("NFD", "canonical decomposition");
}
PartInfo<Normalizer> nfkc_normalizer() {
  return part_info<Normalizer, NormalFormNormalizer<NormalForm::nfkc>>("NFKC", "compatible composition");
}
PartInfo<Normalizer> nfkd_normalizer() {
  return part_info<Normalizer, NormalFormNormalizer<NormalForm::nfkd>>("NFKD", "compatible decomposition");
}
PartInfo<Normalizer> lowercase_normalizer() {
  return part_info<Normalizer, LowercaseNormalizer>("Lowercase", "lower case of each character");
}
PartInfo<Normalizer> strip_accents_normalizer() {
  return part_info<Normalizer, StripAccentsNormalizer>("StripAccents", "no combining marks");
}

}  // namespace assay::text
