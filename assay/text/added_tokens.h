#pragma once

// Tokens that are looked for in a text before all else, such as [MASK].

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/text/parts.h"
#include "assay/text/prefix_tree.h"

namespace assay::text {

class AddedTokens {
 public:
  // `settings`: the whole file. Tokens that the model does not have get the numbers after its own.
  AddedTokens(const Settings& settings, const TokenModel& model, const Normalizer* normalizer);
  // None that are looked for; `special`: tokens of the model that texts do not hold.
  explicit AddedTokens(std::set<std::string> special) : special_(std::move(special)) {}

  // The pieces of a text: added tokens, and the rest, normalized.
  std::vector<TextPiece> split(AlignedText text, const Normalizer* normalizer) const;

  std::optional<std::uint32_t> id(const std::string& token) const;
  std::optional<std::string> token(std::uint32_t id) const;
  bool is_special(const std::string& token) const { return special_.contains(token); }
  std::size_t beyond(const TokenModel& model) const;  // tokens that the model does not have
  std::uint32_t greatest() const { return tokens_.empty() ? 0 : tokens_.rbegin()->first; }

 private:
  struct Added {
    std::string content, normalized;  // as it is looked for in normalized texts
    bool single_word = false, strip_left = false, strip_right = false, in_normalized = false;
  };
  struct Found {
    Range range;
    std::optional<std::uint32_t> id = {};
  };

  void add(const Settings& settings, const TokenModel& model, const Normalizer* normalizer,
           std::uint32_t& next);
  std::vector<Found> find(const std::string& text, const PrefixTree& tree) const;
  std::optional<Range> widened(const std::string& text, Range match, std::uint32_t id,
                               std::size_t from) const;
  std::vector<TextPiece> split_at(const AlignedText& text, const PrefixTree& tree) const;

  std::map<std::uint32_t, Added> tokens_;
  std::map<std::string, std::uint32_t> ids_;
  std::set<std::string> special_;
  PrefixTree as_written_, normalized_;
  Pattern word_;  // one character of a word
};

}  // namespace assay::text
