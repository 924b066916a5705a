// The most probable sequence of pieces (Kudo 2018), by Viterbi's algorithm.

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "assay/support/ascii.h"
#include "assay/text/models/best_pieces.h"
#include "assay/text/models/catalogue.h"
#include "assay/text/prefix_tree.h"
#include "assay/text/vocabulary.h"

namespace assay::text {
namespace {

// What an unknown character is less probable than the rarest piece.
constexpr double unknown_penalty = 10;

class UnigramModel final : public TokenModel {
 public:
  explicit UnigramModel(const Settings& settings)
      : where_(settings.where()), by_bytes_(settings.flag("byte_fallback", false)) {
    read_pieces(settings);
    if (!settings.has("unk_id")) return;
    unknown_ = settings.number("unk_id");
    if (*unknown_ >= pieces_.size())
      settings.refuse("'unk_id' is {}, and there are {} pieces", *unknown_, pieces_.size());
  }

  std::vector<Token> tokenize(const std::string& piece) const override {
    std::vector<Token> tokens;
    for (const Range& range : best_ranges(piece)) append(piece, range, tokens);
    return tokens;
  }
  std::optional<std::uint32_t> id(const std::string& token) const override {
    const auto it = ids_.find(token);
    if (it == ids_.end()) return std::nullopt;
    return it->second;
  }
  std::optional<std::string> token(std::uint32_t id) const override {
    if (id >= pieces_.size()) return std::nullopt;
    return pieces_[id].text;
  }
  std::size_t size() const override { return pieces_.size(); }
  std::uint32_t greatest() const override {
    return static_cast<std::uint32_t>(std::max<std::size_t>(1, size()) - 1);
  }

 private:
  struct Piece {
    std::string text;
    double score = 0;
  };

  void read_pieces(const Settings& settings) {
    const auto it = settings.value().find("vocab");
    if (it == settings.value().end() || !it->is_array()) settings.refuse("'vocab' is not a list");
    std::vector<std::pair<std::string, std::uint32_t>> entries;
    for (const nlohmann::json& item : *it) {
      const bool sound = item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_number() &&
                         std::isfinite(item[1].get<double>());
      if (!sound) settings.refuse("piece {} of 'vocab' is not a text and its score", pieces_.size());
      pieces_.push_back({item[0].get<std::string>(), item[1].get<double>()});
      if (pieces_.back().text.size() > longest_token)
        settings.refuse("piece {} of 'vocab' has more than {} bytes", pieces_.size() - 1, longest_token);
      entries.emplace_back(pieces_.back().text, static_cast<std::uint32_t>(pieces_.size() - 1));
      ids_.insert_or_assign(entries.back().first, entries.back().second);
      least_ = std::min(least_, pieces_.back().score);
    }
    tree_ = PrefixTree(entries);
  }

  [[noreturn]] void refuse_unknown(const std::string& piece) const {
    fail(Fault::data, "{}: a character of '{}' is in no piece, and 'unk_id' names none for such characters",
         where_, piece);
  }

  std::vector<Range> best_ranges(const std::string& text) const {
    BestPieces<double> best(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = character_at(text, at).length;
      bool single = false;
      tree_.for_each(std::string_view(text).substr(at), [&](std::size_t bytes, std::uint32_t id) {
        best.offer(at, at + bytes, best.until(at) + pieces_[id].score, id == unknown_);
        single |= bytes == length;
      });
      if (!single) {
        if (!unknown_) refuse_unknown(text);
        best.offer(at, at + length, best.until(at) + (least_ - unknown_penalty), true);
      }
      at += length;
    }
    return best.ranges();
  }

  void append(const std::string& text, const Range& range, std::vector<Token>& tokens) const {
    const std::string part = text.substr(range.begin, range.end - range.begin);
    if (const auto known = id(part)) {
      tokens.push_back({*known, part, range});
      return;
    }
    if (by_bytes_ && append_bytes(part, range, tokens)) return;
    if (!unknown_) refuse_unknown(text);
    tokens.push_back({*unknown_, part, range});
  }

  bool append_bytes(const std::string& part, const Range& range, std::vector<Token>& tokens) const {
    std::vector<Token> bytes;
    for (const char c : part) {
      const std::string name = fmt::format("<0x{:02X}>", byte_of(c));
      const auto known = id(name);
      if (!known) return false;
      bytes.push_back({*known, name, range});
    }
    tokens.insert(tokens.end(), bytes.begin(), bytes.end());
    return true;
  }

  std::string where_;
  bool by_bytes_;
  std::vector<Piece> pieces_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  PrefixTree tree_;
  double least_ = std::numeric_limits<double>::infinity();
  std::optional<std::uint32_t> unknown_;
};

}  // namespace

PartInfo<TokenModel> unigram_model() {
  return part_info<TokenModel, UnigramModel>("Unigram", "the most probable pieces");
}

}  // namespace assay::text
