#include <assay/tokenizer.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "assay/support/files/file.h"
#include "assay/support/text/characters.h"
#include "assay/support/text/text.h"
#include "assay/text/added_tokens.h"
#include "assay/text/encodings.h"
#include "assay/text/folder_tokens.h"
#include "assay/text/lengths.h"
#include "assay/text/sentencepiece/parts.h"

namespace assay::text {
namespace {

constexpr std::uint64_t most_file_bytes = std::uint64_t{1} << 30;
constexpr std::size_t most_text_bytes = std::size_t{1} << 28;

std::filesystem::path file_in(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  const std::filesystem::path file = path / "tokenizer.json";
  if (!std::filesystem::exists(file, ignored))
    fail(Fault::io,
         "{}: the folder holds no tokenizer.json; save the tokenizer there (save_pretrained), or name its "
         "file, a tokenizer.json or a .model of SentencePiece",
         path.string());
  return file;
}

nlohmann::json parsed(std::string_view text, const std::string& name) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    fail(Fault::data, "{}: this is not a tokenizer.json: {}", name, error.what());
  }
}

template <typename Part>
std::unique_ptr<const Part> optional_part(const Catalogue<PartInfo<Part>>& catalogue, const Settings& file,
                                          const std::string& key) {
  return file.has(key) ? make_part(catalogue, file.part(key)) : nullptr;
}

// Older files leave out the type of the model.
std::unique_ptr<const TokenModel> model_of(const Settings& file) {
  const Settings model = file.part("model");
  if (model.has("type")) return make_part(token_models(), model);
  if (model.has("merges")) return token_models().find("BPE").make(model);
  if (model.has("max_input_chars_per_word")) return token_models().find("WordPiece").make(model);
  return token_models().find(model.value().contains("unk_id") ? "Unigram" : "WordLevel").make(model);
}

// Characters of the text for bytes of it.
class CharacterOffsets {
 public:
  explicit CharacterOffsets(std::string_view text) {
    numbers_.reserve(text.size());
    std::uint32_t characters = 0;
    for (std::size_t at = 0; at < text.size(); ++characters) {
      const std::size_t length = character_at(text, at).length;
      numbers_.insert(numbers_.end(), length, characters);
      at += length;
    }
  }
  // Beyond the text bytes stay bytes, as in the library `tokenizers`.
  Offsets of(Range bytes) const {
    if (bytes.begin >= numbers_.size()) return {bytes.begin, bytes.end};
    const std::size_t begin = numbers_[bytes.begin];
    if (bytes.end < numbers_.size()) return {begin, numbers_[bytes.end]};
    return {begin, bytes.end - 1 < numbers_.size() ? numbers_[bytes.end - 1] + 1 : begin + 2};
  }

 private:
  std::vector<std::uint32_t> numbers_;
};

void append_token(Encoding& to, Token token, const AlignedText& text, const CharacterOffsets& characters,
                  std::int64_t word) {
  to.ids.push_back(token.id);
  to.types.push_back(0);
  to.attention.push_back(1);
  to.special.push_back(0);
  to.offsets.push_back(characters.of(text.original(token.range)));
  to.tokens.push_back(std::move(token.text));
  to.words.push_back(word);
}

// Pieces that texts do not hold.
std::set<std::string> special_pieces(const SentencePieceFile& file) {
  std::set<std::string> special;
  for (const SentencePiece& piece : file.pieces)
    if (piece.type == SentencePiece::Type::control || piece.type == SentencePiece::Type::unknown)
      special.insert(piece.text);
  return special;
}

}  // namespace

struct Tokenizer::Parts {
  Parts(const Settings& settings, std::string file)
      : name(std::move(file)),
        model(model_of(settings)),
        normalizer(optional_part(normalizers(), settings, "normalizer")),
        pre_tokenizer(optional_part(pre_tokenizers(), settings, "pre_tokenizer")),
        post_processor(optional_part(post_processors(), settings, "post_processor")),
        decoder(optional_part(decoders(), settings, "decoder")),
        added(settings, *model, normalizer.get()),
        lengths(settings) {}
  explicit Parts(const SentencePieceFile& file)
      : name(file.name),
        model(assay::text::model_of(file)),
        normalizer(normalizer_of(file)),
        decoder(decoder_of(file)),
        added(special_pieces(file)) {}

  std::optional<std::uint32_t> id(const std::string& token) const {
    const auto found = added.id(token);
    return found ? found : model->id(token);
  }
  std::optional<std::string> token(std::int64_t number) const {
    if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    const auto found = added.token(static_cast<std::uint32_t>(number));
    return found ? found : model->token(static_cast<std::uint32_t>(number));
  }

  Encoding tokens_of(std::string_view text) const {
    if (text.size() > most_text_bytes)
      fail(Fault::resources, "{}: a text has {} bytes, and at most {} are read", name, text.size(),
           most_text_bytes);
    if (!character_codes(text)) fail(Fault::data, "{}: a text is not UTF-8; convert it before", name);
    if (text.empty()) return {};
    auto pieces = added.split(AlignedText(std::string(text)), normalizer.get());
    if (pre_tokenizer) pre_tokenizer->split(pieces);
    const CharacterOffsets characters(text);
    Encoding encoding;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      auto tokens =
          pieces[i].added ? std::vector<Token>{*pieces[i].added} : model->tokenize(pieces[i].text.text());
      for (Token& token : tokens)
        append_token(encoding, std::move(token), pieces[i].text, characters, static_cast<std::int64_t>(i));
    }
    return encoding;
  }

  Encoding encode(std::vector<Encoding> texts, const TokenizerOptions& options) const {
    const std::size_t around =
        options.special && post_processor ? post_processor->added(texts.size() == 2) : 0;
    lengths.truncate(texts, around, options.length, name);
    for (std::size_t i = 0; i < texts.size(); ++i)
      std::ranges::fill(texts[i].types, static_cast<std::int64_t>(i));
    if (post_processor) post_processor->process(texts, options.special);
    Encoding all = joined_encodings(texts);
    lengths.pad(all, options.length, padding_token());
    return all;
  }

  // What fills up: as the file says, or the folder, or what is usual, or what ends a text.
  std::optional<SpecialToken> padding_token() const {
    if (lengths.padding()) return lengths.padding();
    if (const auto said = known(in_folder.padding)) return said;
    for (const char* const usual :
         {"[PAD]", "<pad>", "<|pad|>", "<|endoftext|>", "</s>", "<|end_of_text|>"}) {
      if (const auto number = id(usual)) return SpecialToken{*number, usual};
    }
    return known(in_folder.end);
  }

  // Where it is a token.
  std::optional<SpecialToken> known(const std::optional<FolderTokens::Said>& said) const {
    const auto text = said ? token(said->token) : std::nullopt;
    if (!text) return std::nullopt;
    return SpecialToken{static_cast<std::uint32_t>(said->token), *text};
  }

  std::string name;
  std::unique_ptr<const TokenModel> model;
  std::unique_ptr<const Normalizer> normalizer;
  std::unique_ptr<const PreTokenizer> pre_tokenizer;
  std::unique_ptr<const PostProcessor> post_processor;
  std::unique_ptr<const Decoder> decoder;
  AddedTokens added;
  Lengths lengths;
  FolderTokens in_folder = {};
};

Tokenizer::Tokenizer(const std::filesystem::path& path) {
  const std::filesystem::path file = file_in(path);
  const std::string bytes = read_file(file, most_file_bytes);
  const auto parts = file.extension() == ".model"
                         ? std::make_shared<Parts>(read_sentencepiece(bytes, file.string()))
                         : parts_in(bytes, file.string());
  parts->in_folder = read_folder_tokens(file.parent_path());
  parts_ = parts;
}

Tokenizer::Tokenizer(std::string_view json, const std::string& name) : parts_(parts_in(json, name)) {}

std::shared_ptr<Tokenizer::Parts> Tokenizer::parts_in(std::string_view json, const std::string& name) {
  const nlohmann::json file = parsed(json, name);
  return std::make_shared<Parts>(Settings(file, name), name);
}

Encoding Tokenizer::encode(std::string_view text, const TokenizerOptions& options) const {
  return parts_->encode({parts_->tokens_of(text)}, options);
}

Encoding Tokenizer::encode(std::string_view text, std::string_view second,
                           const TokenizerOptions& options) const {
  return parts_->encode({parts_->tokens_of(text), parts_->tokens_of(second)}, options);
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids, bool special) const {
  std::vector<std::string> tokens;
  for (const std::int64_t number : ids) {
    auto token = parts_->token(number);
    if (token && (special || !parts_->added.is_special(*token))) tokens.push_back(*std::move(token));
  }
  if (!parts_->decoder) return joined(tokens, " ");
  return joined(parts_->decoder->decode(std::move(tokens)), "");
}

std::optional<std::int64_t> Tokenizer::id(const std::string& token) const {
  const auto found = parts_->id(token);
  if (!found) return std::nullopt;
  return *found;
}

std::optional<std::string> Tokenizer::token(std::int64_t id) const { return parts_->token(id); }

std::size_t Tokenizer::size() const { return parts_->model->size() + parts_->added.beyond(*parts_->model); }

std::size_t Tokenizer::numbers() const {
  return std::size_t{1} + std::max(parts_->model->greatest(), parts_->added.greatest());
}

bool Tokenizer::is_special(std::int64_t id) const {
  const auto found = parts_->token(id);
  return found && parts_->added.is_special(*found);
}

std::optional<std::int64_t> Tokenizer::padding() const {
  const auto token = parts_->padding_token();
  if (!token) return std::nullopt;
  return token->id;
}

std::optional<std::size_t> Tokenizer::longest() const { return parts_->lengths.longest(); }

const std::string& Tokenizer::name() const { return parts_->name; }

}  // namespace assay::text
