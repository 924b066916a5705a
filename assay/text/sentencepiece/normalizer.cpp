// Characters by the compiled map, longest match first; blanks joined and marked.

#include "assay/support/text/characters.h"
#include "assay/text/normalizers/character_map.h"
#include "assay/text/prefix_tree.h"
#include "assay/text/sentencepiece/blank.h"
#include "assay/text/sentencepiece/parts.h"

namespace assay::text {
namespace {

// The new text, with what each of its characters was made of.
class Normalized {
 public:
  void insert(char32_t code) { changes_.push_back({code, 1}); }
  // `characters` of the old text become these.
  void replace(std::string_view with, std::size_t characters) {
    std::vector<Change> added = unchanged(with);
    if (added.empty()) {
      drop(characters);
      return;
    }
    for (std::size_t i = 1; i < added.size(); ++i) added[i].change = 1;
    added[0].change = 1 - static_cast<int>(characters);
    changes_.insert(changes_.end(), added.begin(), added.end());
  }
  // Characters of the old text go. They belong to what is before them.
  void drop(std::size_t characters) {
    if (changes_.empty())
      removed_ += characters;
    else
      dropped_after_[changes_.size() - 1] += characters;
  }
  void drop_last_where(char32_t code) {
    while (!changes_.empty() && changes_.back().code == code) changes_.pop_back();
  }

  void apply(AlignedText& text) {
    for (const auto& [at, characters] : dropped_after_)
      if (at < changes_.size()) take_along(at, characters);
    text.transform(changes_, removed_);
  }

 private:
  // An insertion replaces nothing, so what goes after it goes with the last character that replaced some.
  void take_along(std::size_t at, std::size_t characters) {
    while (at > 0 && changes_[at].change > 0) --at;
    if (changes_[at].change > 0)
      removed_ += characters;
    else
      changes_[at].change -= static_cast<int>(characters);
  }

  std::vector<Change> changes_;
  std::map<std::size_t, std::size_t> dropped_after_;
  std::size_t removed_ = 0;
};

class SentencePieceNormalizer final : public Normalizer {
 public:
  explicit SentencePieceNormalizer(const SentencePieceFile& file)
      : puts_blank_(file.puts_blank),
        at_end_(file.blank_at_end),
        joins_(file.joins_blanks),
        blank_(file.marks_blanks ? blank_letter : U' ') {
    if (!file.character_map.empty()) map_.emplace(file.character_map, file.name);
    std::vector<std::pair<std::string, std::uint32_t>> kept;
    for (const SentencePiece& piece : file.pieces)
      if (piece.type == SentencePiece::Type::user_defined) kept.emplace_back(piece.text, 0);
    kept_ = PrefixTree(kept);
  }

  void normalize(AlignedText& text) const override {
    const std::string all = text.text();
    std::string_view rest = all;
    Normalized made;
    while (joins_ && !rest.empty()) {
      const Match match = prefix(rest);
      if (match.with != " ") break;
      made.drop(unchanged(rest.substr(0, match.bytes)).size());
      rest.remove_prefix(match.bytes);
    }
    if (!rest.empty()) add(rest, made);
    made.apply(text);
  }

 private:
  struct Match {
    std::string_view with;
    std::size_t bytes = 0;
  };

  void add(std::string_view rest, Normalized& made) const {
    if (puts_blank_ && !at_end_) made.insert(blank_);
    for (bool after_blank = joins_; !rest.empty();) {
      Match match = prefix(rest);
      const std::size_t characters = unchanged(rest.substr(0, match.bytes)).size();
      rest.remove_prefix(match.bytes);
      while (after_blank && match.with.starts_with(' ')) match.with.remove_prefix(1);
      made.replace(marked(match.with), characters);
      if (!match.with.empty()) after_blank = joins_ && match.with.ends_with(' ');
    }
    if (joins_) made.drop_last_where(blank_);
    if (puts_blank_ && at_end_) made.insert(blank_);
  }

  // What the text begins with, and what stands for it.
  Match prefix(std::string_view text) const {
    Match match;
    kept_.for_each(text, [&](std::size_t bytes, std::uint32_t) { match = {text.substr(0, bytes), bytes}; });
    if (match.bytes > 0) return match;
    if (map_) {
      if (const auto found = map_->longest(text)) return {found->with, found->bytes};
    }
    const std::size_t bytes = character_at(text, 0).length;
    return {text.substr(0, bytes), bytes};
  }

  std::string marked(std::string_view text) const {
    std::string with;
    for (const char c : text) {
      if (c == ' ')
        with += character_of(blank_);
      else
        with += c;
    }
    return with;
  }

  bool puts_blank_, at_end_, joins_;
  char32_t blank_;
  std::optional<CharacterMap> map_;
  PrefixTree kept_;  // symbols of users, which stay as they are
};

}  // namespace

std::unique_ptr<const Normalizer> normalizer_of(const SentencePieceFile& file) {
  return std::make_unique<SentencePieceNormalizer>(file);
}

}  // namespace assay::text
