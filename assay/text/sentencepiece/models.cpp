// Unigram and BPE as SentencePiece has them: its scores are float32, and any two neighbours merge whose text
// is a piece.

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "assay/support/ascii.h"
#include "assay/text/models/best_pieces.h"
#include "assay/text/models/pair_merger.h"
#include "assay/text/prefix_tree.h"
#include "assay/text/sentencepiece/parts.h"

namespace assay::text {
namespace {

using Type = SentencePiece::Type;

constexpr float unknown_penalty_of_sentencepiece = 10;

bool is_found_in_texts(const SentencePiece& piece) {
  return piece.type == Type::normal || piece.type == Type::user_defined;
}

class SentencePieceModel : public TokenModel {
 public:
  explicit SentencePieceModel(const SentencePieceFile& file)
      : pieces_(file.pieces), unknown_(static_cast<std::uint32_t>(file.unknown)), by_bytes_(file.by_bytes) {
    std::vector<std::pair<std::string, std::uint32_t>> symbols;
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
      ids_.emplace(pieces_[i].text, i);
      if (pieces_[i].type == Type::user_defined) symbols.emplace_back(pieces_[i].text, i);
    }
    symbols_ = PrefixTree(symbols);
    if (!by_bytes_) return;
    for (unsigned byte = 0; byte < 256; ++byte) bytes_.push_back(ids_.at(byte_piece(byte)));
  }

  std::optional<std::uint32_t> id(const std::string& token) const override {
    const auto found = ids_.find(token);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
  }
  std::optional<std::string> token(std::uint32_t id) const override {
    if (id >= pieces_.size()) return std::nullopt;
    return pieces_[id].text;
  }
  std::size_t size() const override { return pieces_.size(); }
  std::uint32_t greatest() const override { return static_cast<std::uint32_t>(pieces_.size() - 1); }

 protected:
  // The piece with that text that texts may hold; nothing: none.
  std::optional<std::uint32_t> piece(std::string_view text) const {
    const auto found = ids_.find(std::string(text));
    if (found == ids_.end() || !is_found_in_texts(pieces_[found->second])) return std::nullopt;
    return found->second;
  }

  // Puts the token of a range there; several unknown ones after each other are one.
  void append(const std::string& text, const Range& range, std::vector<Token>& tokens) const {
    const std::string part = text.substr(range.begin, range.end - range.begin);
    if (const auto known = piece(part)) {
      tokens.push_back({*known, part, range});
    } else if (by_bytes_) {
      for (const char c : part) {
        const std::uint32_t byte = bytes_[byte_of(c)];
        tokens.push_back({byte, pieces_[byte].text, range});
      }
    } else if (!tokens.empty() && tokens.back().id == unknown_) {
      tokens.back().text += part;
      tokens.back().range.end = range.end;
    } else {
      tokens.push_back({unknown_, part, range});
    }
  }

  std::vector<SentencePiece> pieces_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  PrefixTree symbols_;  // of users, which are always found
  std::uint32_t unknown_;

 private:
  bool by_bytes_;
  std::vector<std::uint32_t> bytes_;  // the piece of each byte
};

class SentencePieceUnigram final : public SentencePieceModel {
 public:
  explicit SentencePieceUnigram(const SentencePieceFile& file) : SentencePieceModel(file) {
    std::vector<std::pair<std::string, std::uint32_t>> entries;
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
      if (is_found_in_texts(pieces_[i])) entries.emplace_back(pieces_[i].text, i);
      if (pieces_[i].type == Type::normal) least_ = std::min(least_, pieces_[i].score);
    }
    tree_ = PrefixTree(entries);
  }

  std::vector<Token> tokenize(const std::string& text) const override {
    BestPieces<float> best(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = character_at(text, at).length;
      bool single = false;
      tree_.for_each(std::string_view(text).substr(at), [&](std::size_t bytes, std::uint32_t id) {
        best.offer(at, at + bytes, best.until(at) + score(id, bytes));
        single |= bytes == length;
      });
      if (!single) best.offer(at, at + length, best.until(at) + (least_ - unknown_penalty_of_sentencepiece));
      at += length;
    }
    std::vector<Token> tokens;
    for (const Range& range : best.ranges()) append(text, range, tokens);
    return tokens;
  }

 private:
  // Symbols of users are better than pieces, whose scores are logarithms of shares, and the more so the
  // longer.
  float score(std::uint32_t id, std::size_t bytes) const {
    if (pieces_[id].type != Type::user_defined) return pieces_[id].score;
    return static_cast<float>(0.1 * static_cast<double>(bytes - 1));
  }

  PrefixTree tree_;
  float least_ = std::numeric_limits<float>::max();
};

class SentencePieceBpe final : public SentencePieceModel {
 public:
  explicit SentencePieceBpe(const SentencePieceFile& file) : SentencePieceModel(file) {
    std::vector<float> scores;
    for (const SentencePiece& piece : pieces_) scores.push_back(piece.score);
    std::ranges::sort(scores, std::greater<>());
    scores.erase(std::ranges::unique(scores).begin(), scores.end());
    for (const SentencePiece& piece : pieces_)
      ranks_.push_back(static_cast<std::uint32_t>(
          std::ranges::lower_bound(scores, piece.score, std::greater<>()) - scores.begin()));
  }

  std::vector<Token> tokenize(const std::string& text) const override {
    std::vector<Symbol> symbols = symbols_of(text);
    merge_pairs(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<PairMerge> {
      if (left.whole || right.whole) return std::nullopt;
      const auto found = piece(std::string_view(text).substr(left.begin, left.bytes + right.bytes));
      if (!found) return std::nullopt;
      return PairMerge{ranks_[*found], *found};
    });
    std::vector<Token> tokens;
    for (const Symbol& symbol : symbols)
      if (symbol.bytes > 0) append(text, {symbol.begin, symbol.begin + symbol.bytes}, tokens);
    return tokens;
  }

 private:
  // Characters, and symbols of users, which do not merge.
  std::vector<Symbol> symbols_of(const std::string& text) const {
    std::vector<Symbol> symbols;
    for (std::size_t at = 0; at < text.size(); at += symbols.back().bytes) {
      std::size_t whole = 0;
      symbols_.for_each(std::string_view(text).substr(at),
                        [&](std::size_t bytes, std::uint32_t) { whole = bytes; });
      append_symbol(
          symbols,
          {.begin = at, .bytes = whole > 0 ? whole : character_at(text, at).length, .whole = whole > 0});
    }
    return symbols;
  }

  std::vector<std::uint32_t> ranks_;  // of scores, the greatest first
};

}  // namespace

std::unique_ptr<const TokenModel> model_of(const SentencePieceFile& file) {
  if (file.kind == SentencePieceFile::Kind::bpe) return std::make_unique<SentencePieceBpe>(file);
  return std::make_unique<SentencePieceUnigram>(file);
}

}  // namespace assay::text
