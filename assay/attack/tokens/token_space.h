#pragma once

// What attacks on tokens work in: which positions of a record may change, to which tokens, and how scores
// change with the rows of the table in which tokens are looked up.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <assay/extend/attack_problem.h>
#include <assay/extend/spec.h>
#include <assay/tokenizer.h>

namespace assay::attack {

// Which tokens of a text may change, by their places.
struct TokenPlaces {
  static constexpr std::int64_t everything = std::numeric_limits<std::int64_t>::max();
  std::int64_t begin = 0, end = everything;  // below 0: from the end

  // "last20", "first20", "a:b" (a or b may be missing), or empty: all.
  explicit TokenPlaces(const SpecOptions& options);
  // Of so many tokens.
  bool contains(std::int64_t place, std::int64_t count) const;
};

// Options that all attacks on tokens have.
struct TokenLimits {
  double changes = 0;                     // most tokens that change; below 1: the share of those that may
  std::string tokenizer = {};             // file; empty: all tokens are alike
  std::vector<std::string> protect = {};  // words that stay
  TokenPlaces places;

  explicit TokenLimits(const SpecOptions& options);
  static std::vector<SpecOption> options(const std::string& changes);
  // Of a record with so many positions that may change.
  std::size_t budget(std::size_t positions) const;
  // REQUIRES that the budget is 0.
  std::string why_no_change(std::size_t positions) const;
};

using TokenRow = std::vector<std::int64_t>;  // the tokens of a record

class TokenSpace {
 public:
  // Throws Error{unsupported} where tokens are looked up in no constant table, and as Tokenizer does.
  TokenSpace(const AttackedNetwork& network, const TokenLimits& limits);

  // As attacks have them: numbers as shares of the greatest, [n, length].
  std::vector<TokenRow> tokens_of(const Array& points) const;
  Array points_of(std::span<const TokenRow> rows) const;
  // Of each record: those in the given places that are neither special, nor fill up, nor belong to protected
  // words. None where
  // the text of the tokens does not give these tokens again.
  std::vector<std::vector<std::size_t>> positions(const AttackProblem& problem) const;
  const AttackedNetwork& network() const { return network_; }
  const TokenLimits& limits() const { return limits_; }
  // Tokens that may be put in.
  const std::vector<std::int64_t>& choices() const { return choices_; }
  // Whether the text of the tokens gives these tokens again, so that who writes it gets what was attacked.
  // Without a tokenizer always.
  bool is_text(const TokenRow& tokens) const;
  // How a number of each record changes with the row of each position, [n, length, width]. `rows`: in place
  // of those of the tokens, or undefined.
  Array gradients(const AttackProblem& problem, const Array& points, const Array& rows,
                  const AttackedNetwork::Objective& objective) const;
  // Rows of the table: of tokens [n, length, width], and of all choices [choices, width].
  Array rows_of(std::span<const TokenRow> tokens) const;
  const Array& rows_of_choices() const { return choice_rows_; }
  // [n] how far each record is from its goal (margin()), given its tokens.
  std::vector<float> margins(const AttackProblem& problem, std::span<const TokenRow> rows) const;

 private:
  // Positions of the record that do not fill up.
  std::vector<std::size_t> real_positions(const AttackProblem& problem, std::size_t row,
                                          const TokenRow& tokens) const;
  std::set<std::size_t> protected_positions(const TokenRow& tokens) const;

  const AttackedNetwork& network_;
  TokenLimits limits_;
  std::optional<text::Tokenizer> tokenizer_;
  ValueId looked_up_ = no_value, mask_ = no_value;
  std::int64_t known_ = 0;  // tokens that the network knows
  Array table_, choice_rows_;
  std::vector<std::int64_t> choices_;
};

}  // namespace assay::attack
