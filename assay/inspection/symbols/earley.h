#pragma once

// Earley's algorithm (1970) for all context-free grammars: ambiguous, left-recursive, with empty rules. Texts
// that were cut out of longer ones are parsed as they are (Lang, 1988): anything may have come before, and
// may follow. Time is at most cubic in the text, memory quadratic and limited.
//
// Of several parses one is taken: that with the fewest nodes; of these, the one whose alternative stands
// first in the grammar, with its last part as long as possible, then the part before it, and so on. Parts
// made for brackets and repetitions are not nodes.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/inspection/symbols/grammar.h"

namespace assay::inspection {

// A text, character by character.
struct GrammarText {
  std::vector<char32_t> codes;
  // Of the symbol that begins at a character: its text, and how many characters that is; empty, 0 elsewhere.
  std::vector<std::string_view> symbols;
  std::vector<std::size_t> lengths;
};

struct ParseNode {
  std::size_t nonterminal;                         // has a name
  std::size_t begin, end;                          // characters
  bool begins_before = false, ends_after = false;  // of the text: cut there
  // False for a node that is in this parse, or in another of equal size, but not in all of these, because the
  // deciding text was cut off.
  bool certain = true;
};

struct Parse {
  std::vector<ParseNode> nodes;
  bool ambiguous = false;
  // For a text cut on its left: non-terminals (named or not) that may be the uppermost visible node; nothing
  // is seen of the nodes above it.
  std::vector<std::size_t> tops = {};
  bool top_begins_before = false;
};

class EarleyParser {
 public:
  // `most_items`: of the chart, for one text.
  explicit EarleyParser(const Grammar& grammar, std::size_t most_items = 2'000'000);

  enum class Match {
    whole,       // the text is one of the grammar's
    fragment,    // it is cut out of one: nowhere if it can be, then on its right, then on its left or both
    substrings,  // texts of the grammar in it: the leftmost, as long as possible, and on from its end
  };
  struct Outcome {
    std::optional<Parse> parse;  // none: it does not fit
    bool too_large = false;      // more items than allowed
  };
  // Thread-safe. REQUIRES a text that is not empty.
  Outcome parse(const GrammarText& text, Match match) const;

 private:
  friend class EarleyChart;
  const Grammar& grammar_;
  std::size_t most_items_;
  // Dotted rules: rule after rule, dot after dot.
  struct Dotted {
    std::size_t rule;
    std::size_t left;
    enum class Next { end, terminal, nonterminal } next;
    std::size_t id;  // of what is next
    bool may_skip;   // what is next can be empty
  };
  std::vector<Dotted> dotted_;
  std::vector<std::size_t> first_;                  // of each rule: its dotted rule that begins it
  std::vector<std::vector<std::size_t>> awaiting_;  // dotted rules by the non-terminal that is next
  std::vector<std::size_t> middles_;                // dotted rules with something before and after the dot
  std::vector<std::vector<bool>> ascii_;            // of each terminal
};

}  // namespace assay::inspection
