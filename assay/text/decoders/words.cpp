// Tokens put together to words again.

#include <algorithm>

#include "assay/support/text/characters.h"
#include "assay/text/decoders/catalogue.h"
#include "assay/text/metaspace.h"

namespace assay::text {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  if (what.empty()) return text;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

// Blanks that English does not have.
std::string tidied(std::string text) {
  const std::pair<const char*, const char*> all[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [what, with] : all) text = replaced(std::move(text), what, with);
  return text;
}

class WordPieceDecoder final : public Decoder {
 public:
  explicit WordPieceDecoder(const Settings& settings)
      : prefix_(settings.text("prefix")), tidy_(settings.flag("cleanup")) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0)
        tokens[i] = tokens[i].starts_with(prefix_) ? tokens[i].substr(prefix_.size()) : " " + tokens[i];
      if (tidy_) tokens[i] = tidied(std::move(tokens[i]));
    }
    return tokens;
  }

 private:
  std::string prefix_;
  bool tidy_;
};

class BpeDecoder final : public Decoder {
 public:
  explicit BpeDecoder(const Settings& settings) : suffix_(settings.text("suffix")) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (std::string& token : tokens)
      token = replaced(std::move(token), suffix_, &token == &tokens.back() ? "" : " ");
    return tokens;
  }

 private:
  std::string suffix_;
};

class MetaspaceDecoder final : public Decoder {
 public:
  explicit MetaspaceDecoder(const Settings& settings)
      : rule_(settings), letter_(character_of(rule_.letter)) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (std::string& token : tokens) {
      const bool first = &token == &tokens.front() && rule_.prepend != Metaspace::Prepend::never;
      token = replaced(std::move(token), letter_, first ? "" : " ");
    }
    return tokens;
  }

 private:
  Metaspace rule_;
  std::string letter_;
};

// Connectionist temporal classification: what repeats is one, padding is nothing.
class CtcDecoder final : public Decoder {
 public:
  explicit CtcDecoder(const Settings& settings)
      : padding_(settings.text("pad_token")),
        between_(settings.text("word_delimiter_token")),
        tidy_(settings.flag("cleanup")) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    tokens.erase(std::ranges::unique(tokens).begin(), tokens.end());
    for (std::string& token : tokens) {
      token = replaced(std::move(token), padding_, "");
      if (tidy_) token = replaced(tidied(std::move(token)), between_, " ");
    }
    std::erase(tokens, "");
    return tokens;
  }

 private:
  std::string padding_, between_;
  bool tidy_;
};

}  // namespace

PartInfo<Decoder> word_piece_decoder() {
  return part_info<Decoder, WordPieceDecoder>("WordPiece", "pieces without their prefix");
}
PartInfo<Decoder> bpe_decoder() {
  return part_info<Decoder, BpeDecoder>("BPEDecoder", "blanks for ends of words");
}
PartInfo<Decoder> metaspace_decoder() {
  return part_info<Decoder, MetaspaceDecoder>("Metaspace", "blanks for the letter that stands for them");
}
PartInfo<Decoder> ctc_decoder() {
  return part_info<Decoder, CtcDecoder>("CTC", "repetitions and padding left out");
}

}  // namespace assay::text
