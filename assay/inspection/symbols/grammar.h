#pragma once

// Context-free grammars as text, in the notation of the XML recommendation (W3C, "EBNF"):
//
//   query  ::= "SELECT " columns " FROM " name (" WHERE " test)? ";"   /* a comment */
//   name   ::= [a-z_]+
//
// "abc" and 'abc' are their characters one after another, [a-z0-9] one of these, [^'] any other, #xA the
// character of that number, <word> one whole symbol of that name; A B, A | B, (A), A?, A*, A+. The first rule
// is the start. docs/algorithms/hypotheses.md has all of it.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::inspection {

struct Grammar {
  struct Symbol {
    bool terminal;
    std::size_t id;  // position among `terminals` or `nonterminals`
  };
  // One character of these ranges (or of no other), or one whole symbol.
  struct Terminal {
    std::vector<std::pair<char32_t, char32_t>> ranges;
    bool negated = false;
    std::string token;  // not empty: a symbol of this text
    bool takes(char32_t code) const;
    bool operator==(const Terminal&) const = default;
  };
  struct Rule {
    std::size_t left;
    std::vector<Symbol> right;
    // Of A ::= A X, made for repetitions: X is not empty, since that would be the same once more.
    bool repeats = false;
  };
  struct Nonterminal {
    std::string name;  // empty: made for a part in brackets or a repetition
    std::vector<std::size_t> rules = {};
    bool nullable = false;
    bool reachable = false;  // from the start
    bool recursive = false;  // can contain itself
  };

  std::vector<Terminal> terminals;
  std::vector<Nonterminal> nonterminals;
  std::vector<Rule> rules;
  std::size_t start = 0;
};

// Throws Error{data} "FILE:LINE:COLUMN: ..." for anything that is not a grammar: a name that is not defined,
// or twice, or that no text could be, none at all. `start`: a name, else the first.
Grammar parse_grammar(std::string_view text, const std::string& file, const std::string& start = {});

// Which non-terminals can be within one of `roots`, these among them, unless only within `without`.
constexpr std::size_t no_nonterminal = std::size_t(-1);
std::vector<bool> reachable_from(const Grammar& grammar, const std::vector<std::size_t>& roots,
                                 std::size_t without = no_nonterminal);
// The non-terminals of its rules.
std::vector<std::size_t> parts_of(const Grammar& grammar, std::size_t nonterminal);

}  // namespace assay::inspection
