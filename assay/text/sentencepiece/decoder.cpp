// Pieces as text again.

#include "assay/support/text/visible.h"
#include "assay/text/decoders/catalogue.h"
#include "assay/text/sentencepiece/blank.h"
#include "assay/text/sentencepiece/parts.h"

namespace assay::text {
namespace {

class SentencePieceDecoder final : public Decoder {
 public:
  explicit SentencePieceDecoder(const SentencePieceFile& file)
      : drops_one_(file.puts_blank), drops_all_(file.joins_blanks), by_bytes_(file.by_bytes) {}

  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    bool at_begin = true;
    for (std::string& token : tokens) {
      bool dropped = false;
      while (at_begin && token.starts_with(blank_mark) && (drops_all_ || (drops_one_ && !dropped))) {
        token.erase(0, blank_mark.size());
        dropped = true;
      }
      at_begin = at_begin && (token.empty() && (drops_all_ || !dropped));
      for (std::size_t at = token.find(blank_mark); at != std::string::npos;
           at = token.find(blank_mark, at + 1))
        token.replace(at, blank_mark.size(), " ");
    }
    return by_bytes_ ? with_bytes(std::move(tokens), characters_in) : tokens;
  }

 private:
  // Those that are whole; each byte between them is marked.
  static std::vector<std::string> characters_in(const std::string& bytes) {
    return {for_each_character(bytes, [](std::string& all, std::string_view next) { all += next; })};
  }

  // At the beginning of a text: the blank that was put there, or all that texts may begin with.
  bool drops_one_, drops_all_;
  bool by_bytes_;  // unknown characters are pieces of single bytes
};

}  // namespace

std::unique_ptr<const Decoder> decoder_of(const SentencePieceFile& file) {
  return std::make_unique<SentencePieceDecoder>(file);
}

}  // namespace assay::text
