#pragma once

// The parts that a tokenizer's file puts together. Each family has a catalogue by the name that stands as
// `type` in the file: an entry is one class in a file of its family, and one line in catalogue.cpp.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/extend/catalogue.h>
#include <assay/tokenizer.h>
#include "assay/text/aligned_text.h"
#include "assay/text/settings.h"

namespace assay::text {

// A token of the vocabulary for bytes of a text.
struct Token {
  std::uint32_t id = 0;
  std::string text;
  Range range;
};

// A part of a text between splits. An added token has its token already, which no further part changes.
struct TextPiece {
  AlignedText text;
  std::optional<Token> added = {};
};

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void normalize(AlignedText& text) const = 0;
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void split(std::vector<TextPiece>& pieces) const = 0;
};

// The vocabulary, and how a piece of text is made of it.
class TokenModel {
 public:
  virtual ~TokenModel() = default;
  // REQUIRES a piece that is not empty. Thread-safe.
  virtual std::vector<Token> tokenize(const std::string& piece) const = 0;
  virtual std::optional<std::uint32_t> id(const std::string& token) const = 0;
  virtual std::optional<std::string> token(std::uint32_t id) const = 0;
  virtual std::size_t size() const = 0;        // tokens
  virtual std::uint32_t greatest() const = 0;  // id
};

class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  // Special tokens that are put around one text, or two.
  virtual std::size_t added(bool pair) const = 0;
  // One encoding a text; what is left is joined in order.
  virtual void process(std::vector<Encoding>& encodings, bool special) const = 0;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual std::vector<std::string> decode(std::vector<std::string> tokens) const = 0;
};

template <typename Part>
struct PartInfo {
  std::string name, summary;
  std::function<std::unique_ptr<const Part>(const Settings&)> make;
};

Catalogue<PartInfo<Normalizer>>& normalizers();
Catalogue<PartInfo<PreTokenizer>>& pre_tokenizers();
Catalogue<PartInfo<TokenModel>>& token_models();
Catalogue<PartInfo<PostProcessor>>& post_processors();
Catalogue<PartInfo<Decoder>>& decoders();

std::string joined_names(const std::vector<std::string>& names);

// The part that the settings describe. Throws Error{unsupported} for a type that is not in the catalogue.
template <typename Part>
std::unique_ptr<const Part> make_part(const Catalogue<PartInfo<Part>>& catalogue, const Settings& settings) {
  const std::string type = settings.text("type");
  if (!catalogue.contains(type))
    fail(Fault::unsupported, "{}: Assay knows no {} of type '{}'; it knows {}", settings.where(),
         catalogue.words().one, type, joined_names(catalogue.names()));
  return catalogue.find(type).make(settings);
}

// A catalogue's entry of a class that is made of settings.
template <typename Part, typename Made>
PartInfo<Part> part_info(std::string name, std::string summary) {
  return {std::move(name), std::move(summary), [](const Settings& settings) -> std::unique_ptr<const Part> {
            return std::make_unique<Made>(settings);
          }};
}

// Puts what `split` makes of it in place of each piece that is not an added token; nothing stays of empty
// ones.
void split_pieces(std::vector<TextPiece>& pieces,
                  const std::function<std::vector<AlignedText>(AlignedText)>& split);
std::vector<AlignedText> split_by(const AlignedText& text, const Pattern& pattern, SplitBehavior behavior);

}  // namespace assay::text
