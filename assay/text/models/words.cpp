// Whole words, and WordPiece (Schuster and Nakajima 2012), which takes the longest piece again and again.

#include <algorithm>

#include "assay/support/ascii.h"
#include "assay/text/models/catalogue.h"
#include "assay/text/models/vocabulary_model.h"

namespace assay::text {
namespace {

class WordLevelModel final : public VocabularyModel {
 public:
  explicit WordLevelModel(const Settings& settings) : VocabularyModel(settings, settings.text("unk_token")) {
    words_ = Vocabulary(settings);
  }

  std::vector<Token> tokenize(const std::string& piece) const override {
    if (const std::uint32_t* const id = words_.find(piece)) return {{*id, piece, {0, piece.size()}}};
    return {{unknown_id(piece), unknown_, {0, piece.size()}}};
  }
};

class WordPieceModel final : public VocabularyModel {
 public:
  explicit WordPieceModel(const Settings& settings)
      : VocabularyModel(settings, settings.text("unk_token")),
        prefix_(settings.text("continuing_subword_prefix")),
        most_characters_(settings.number("max_input_chars_per_word")) {
    words_ = Vocabulary(settings);
  }

  std::vector<Token> tokenize(const std::string& piece) const override {
    std::vector<Token> tokens;
    if (unchanged(piece).size() > most_characters_) return unknown(piece);
    for (std::size_t begin = 0; begin < piece.size(); begin = tokens.back().range.end) {
      if (!append_longest(piece, begin, tokens)) return unknown(piece);
    }
    return tokens;
  }

 private:
  std::vector<Token> unknown(const std::string& piece) const {
    return {{unknown_id(piece), unknown_, {0, piece.size()}}};
  }

  bool append_longest(const std::string& piece, std::size_t begin, std::vector<Token>& tokens) const {
    const std::string before = begin == 0 ? "" : prefix_;
    for (std::size_t end = std::min(piece.size(), begin + words_.longest()); end > begin; --end) {
      if (end < piece.size() && continues_character(piece[end])) continue;
      std::string part = before + piece.substr(begin, end - begin);
      if (const std::uint32_t* const id = words_.find(part)) {
        tokens.push_back({*id, std::move(part), {begin, end}});
        return true;
      }
    }
    return false;
  }

  std::string prefix_;
  std::size_t most_characters_;
};

}  // namespace

PartInfo<TokenModel> word_level_model() {
  return part_info<TokenModel, WordLevelModel>("WordLevel", "a token a word");
}
PartInfo<TokenModel> word_piece_model() {
  return part_info<TokenModel, WordPieceModel>("WordPiece", "the longest piece first");
}

}  // namespace assay::text
