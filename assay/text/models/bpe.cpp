// Byte-pair encoding (Sennrich et al. 2016): pairs merge in the order in which they were learned.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "assay/support/ascii.h"
#include "assay/text/models/catalogue.h"
#include "assay/text/models/pair_merger.h"
#include "assay/text/models/vocabulary_model.h"

namespace assay::text {
namespace {

std::uint64_t pair_key(std::uint32_t first, std::uint32_t second) {
  return static_cast<std::uint64_t>(first) << 32 | second;
}
using Merges = std::unordered_map<std::uint64_t, PairMerge>;

class BpeModel final : public VocabularyModel {
 public:
  explicit BpeModel(const Settings& settings)
      : VocabularyModel(settings, settings.text("unk_token", "")),
        has_unknown_(settings.has("unk_token")),
        prefix_(settings.text("continuing_subword_prefix", "")),
        suffix_(settings.text("end_of_word_suffix", "")),
        fuse_(settings.flag("fuse_unk", false)),
        by_bytes_(settings.flag("byte_fallback", false)),
        whole_first_(settings.flag("ignore_merges", false)) {
    refuse_dropout(settings);
    words_ = Vocabulary(settings);
    read_merges(settings);
  }

  std::vector<Token> tokenize(const std::string& piece) const override {
    if (whole_first_) {
      if (const std::uint32_t* const id = words_.find(piece)) return {{*id, piece, {0, piece.size()}}};
    }
    std::vector<Symbol> symbols = symbols_of(piece);
    merge_pairs(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<PairMerge> {
      const auto it = merges_.find(pair_key(left.id, right.id));
      if (it == merges_.end()) return std::nullopt;
      return it->second;
    });
    std::vector<Token> tokens;
    std::size_t at = 0;
    for (const Symbol& symbol : symbols) {
      if (symbol.bytes == 0) continue;
      tokens.push_back({symbol.id, *words_.token(symbol.id), {at, at + symbol.bytes}});
      at += symbol.bytes;
    }
    return tokens;
  }

 private:
  static void refuse_dropout(const Settings& settings) {
    if (!settings.has("dropout") || settings.value().at("dropout") == 0) return;
    fail(Fault::unsupported,
         "{}: 'dropout' makes other tokens of the same text each time; set it to null, as for use after "
         "training",
         settings.where());
  }

  void read_merges(const Settings& settings) {
    const auto it = settings.value().find("merges");
    if (it == settings.value().end() || !it->is_array()) settings.refuse("'merges' is not a list");
    std::uint32_t rank = 0;
    for (const nlohmann::json& item : *it) {
      // A comment of old files.
      if (item.is_string() && item.get_ref<const std::string&>().starts_with("#version")) continue;
      add_merge(merged_pair(item, rank, settings), rank, settings);
      ++rank;
    }
  }

  // ["a", "b"], or "a b" in older files.
  static std::pair<std::string, std::string> merged_pair(const nlohmann::json& item, std::uint32_t rank,
                                                         const Settings& settings) {
    if (item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_string())
      return {item[0].get<std::string>(), item[1].get<std::string>()};
    const std::string text = item.is_string() ? item.get<std::string>() : "";
    const std::size_t blank = text.find(' ');
    if (blank == std::string::npos || text.find(' ', blank + 1) != std::string::npos)
      settings.refuse("merge {} is not a pair of tokens", rank);
    return {text.substr(0, blank), text.substr(blank + 1)};
  }

  void add_merge(const std::pair<std::string, std::string>& pair, std::uint32_t rank,
                 const Settings& settings) {
    const auto& [first, second] = pair;
    if (second.size() < prefix_.size())
      settings.refuse("the second token of merge {} is shorter than 'continuing_subword_prefix'", rank);
    const auto id_of = [&](const std::string& token) {
      if (const std::uint32_t* const id = words_.find(token)) return *id;
      settings.refuse("merge {} ('{}' and '{}') needs '{}', which is not in the vocabulary", rank, first,
                      second, token);
    };
    const std::uint32_t merged = id_of(first + second.substr(prefix_.size()));
    merges_.insert_or_assign(pair_key(id_of(first), id_of(second)), PairMerge{rank, merged});
  }

  static void append(std::vector<Symbol>& symbols, std::uint32_t id, std::size_t bytes) {
    append_symbol(symbols, {.id = id, .bytes = bytes});
  }

  // A token a character, or a byte where the vocabulary lacks the character.
  std::vector<Symbol> symbols_of(const std::string& piece) const {
    std::vector<Symbol> symbols;
    std::optional<std::size_t> unknown;  // bytes of unknown characters that are not a token yet
    const auto end_unknown = [&] {
      if (unknown) append(symbols, unknown_id(piece), *unknown);
      unknown.reset();
    };
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t bytes = character_at(piece, at).length;
      std::string token = piece.substr(at, bytes);
      if (at > 0) token.insert(0, prefix_);
      at += bytes;
      if (at == piece.size()) token += suffix_;
      if (const std::uint32_t* const id = words_.find(token)) {
        end_unknown();
        append(symbols, *id, bytes);
      } else if (!(by_bytes_ && append_bytes(symbols, token)) && has_unknown_) {
        if (!fuse_) end_unknown();
        unknown = unknown.value_or(0) + bytes;
        unknown_id(piece);
      }
    }
    end_unknown();
    return symbols;
  }

  bool append_bytes(std::vector<Symbol>& symbols, const std::string& token) const {
    std::vector<std::uint32_t> ids;
    for (const char c : token) {
      const std::uint32_t* const id = words_.find(fmt::format("<0x{:02X}>", byte_of(c)));
      if (!id) return false;
      ids.push_back(*id);
    }
    for (const std::uint32_t id : ids) append(symbols, id, 1);
    return true;
  }

  bool has_unknown_;
  std::string prefix_, suffix_;
  bool fuse_, by_bytes_, whole_first_;
  Merges merges_;
};

}  // namespace

PartInfo<TokenModel> bpe_model() {
  return part_info<TokenModel, BpeModel>("BPE", "pairs that merge in order");
}

}  // namespace assay::text
