// Decoders that change tokens as a file says.

#include "assay/support/ascii.h"
#include "assay/support/text/text.h"
#include "assay/text/decoders/catalogue.h"

namespace assay::text {
namespace {

class DecoderSequence final : public Decoder {
 public:
  explicit DecoderSequence(const Settings& settings) {
    for (const Settings& part : settings.parts("decoders")) parts_.push_back(make_part(decoders(), part));
  }
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (const auto& part : parts_) tokens = part->decode(std::move(tokens));
    return tokens;
  }

 private:
  std::vector<std::unique_ptr<const Decoder>> parts_;
};

class ReplaceDecoder final : public Decoder {
 public:
  explicit ReplaceDecoder(const Settings& settings)
      : pattern_(settings.pattern("pattern")), content_(settings.text("content")) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (std::string& token : tokens) {
      std::string changed;
      for (const auto& [range, matched] : parts_by(token, pattern_))
        changed += matched ? content_ : token.substr(range.begin, range.end - range.begin);
      token = std::move(changed);
    }
    return tokens;
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class FuseDecoder final : public Decoder {
 public:
  explicit FuseDecoder(const Settings&) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    return {joined(tokens, "")};
  }
};

class StripDecoder final : public Decoder {
 public:
  explicit StripDecoder(const Settings& settings)
      : content_(settings.character("content")),
        start_(settings.number("start")),
        stop_(settings.number("stop")) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (std::string& token : tokens) token = stripped(token);
    return tokens;
  }

 private:
  std::string stripped(const std::string& token) const {
    std::size_t begin = 0, end = token.size();
    for (std::size_t i = 0; i < start_ && begin < end; ++i) {
      const Character character = character_at(token, begin);
      if (character.code != content_) break;
      begin += character.length;
    }
    for (std::size_t i = 0; i < stop_ && end > begin; ++i) {
      std::size_t last = end - 1;
      while (last > begin && continues_character(token[last])) --last;
      if (character_at(token, last).code != content_) break;
      end = last;
    }
    return token.substr(begin, end - begin);
  }

  char32_t content_;
  std::size_t start_, stop_;
};

}  // namespace

PartInfo<Decoder> decoder_sequence() {
  return part_info<Decoder, DecoderSequence>("Sequence", "decoders one after the other");
}
PartInfo<Decoder> replace_decoder() {
  return part_info<Decoder, ReplaceDecoder>("Replace", "one text in place of what matches");
}
PartInfo<Decoder> fuse_decoder() { return part_info<Decoder, FuseDecoder>("Fuse", "all tokens as one"); }
PartInfo<Decoder> strip_decoder() {
  return part_info<Decoder, StripDecoder>("Strip", "no such characters at the ends of tokens");
}

}  // namespace assay::text
