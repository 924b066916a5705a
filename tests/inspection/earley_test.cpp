#include "assay/inspection/symbols/earley.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include <assay/extend/random.h>

namespace assay::inspection {
namespace {

// The same by plain recursion over spans, for texts of a few letters: fewest nodes of a non-terminal over
// each span, and whether it can be found at all in what was cut.
class Plain {
 public:
  Plain(const Grammar& grammar, std::string text)
      : grammar_(grammar), text_(std::move(text)), n_(text_.size()) {
    const std::size_t count = grammar.nonterminals.size();
    cost_.assign(count, std::vector(n_ + 1, std::vector<int>(n_ + 1, none)));
    for (auto* cut : {&prefix_, &suffix_}) cut->assign(count, std::vector<bool>(n_ + 1));
    infix_.assign(count, false);
    for (bool changed = true; changed;) {
      changed = false;
      for (const Grammar::Rule& rule : grammar_.rules) changed |= step(rule);
    }
  }
  // Nodes of the smallest tree of all of the text; none if there is no tree.
  int cost() const { return cost_[grammar_.start][0][n_]; }
  bool continues() const { return prefix_[grammar_.start][0]; }
  bool is_fragment() const {
    return cost() != none || continues() || suffix_[grammar_.start][n_] || infix_[grammar_.start];
  }
  static constexpr int none = 1'000'000;

 private:
  int of_symbol(const Grammar::Symbol& symbol, std::size_t i, std::size_t j) const {
    if (!symbol.terminal) return cost_[symbol.id][i][j];
    const bool fits = j == i + 1 && grammar_.terminals[symbol.id].takes(static_cast<unsigned char>(text_[i]));
    return fits ? 0 : none;
  }
  // Fewest nodes of the symbols [from, to) of a rule over a span.
  int of_symbols(const Grammar::Rule& rule, std::size_t from, std::size_t to, std::size_t i,
                 std::size_t j) const {
    if (from == to) return i == j ? 0 : none;
    int best = none;
    for (std::size_t m = i; m <= j; ++m) {
      const int first = of_symbol(rule.right[from], i, m);
      if (first >= none) continue;
      best = std::min(best, first + of_symbols(rule, from + 1, to, m, j));
    }
    return best;
  }
  bool cut(const Grammar::Symbol& symbol, const std::vector<std::vector<bool>>& sides, std::size_t at) const {
    return !symbol.terminal && sides[symbol.id][at];
  }

  bool step(const Grammar::Rule& rule) {
    const int node = grammar_.nonterminals[rule.left].name.empty() ? 0 : 1;
    bool changed = false;
    const auto set = [&](std::vector<bool>::reference flag, bool value) {
      if (value && !flag) flag = changed = true;
    };
    for (std::size_t i = 0; i <= n_; ++i) {
      for (std::size_t j = i; j <= n_; ++j) {
        // What is empty has no nodes.
        const int now = std::min(none, of_symbols(rule, 0, rule.right.size(), i, j) + (i == j ? 0 : node));
        if (now < cost_[rule.left][i][j]) {
          cost_[rule.left][i][j] = now;
          changed = true;
        }
      }
    }
    // Cut before symbol s, or in it: what is seen starts, or ends, there.
    const std::size_t size = rule.right.size();
    for (std::size_t i = 0; i <= n_; ++i) {
      for (std::size_t s = 0; s < size; ++s) {
        // Seen: [i, n) as the beginning of this rule.
        for (std::size_t m = i; m < n_; ++m)
          set(prefix_[rule.left][i], of_symbols(rule, 0, s, i, m) < none && cut(rule.right[s], prefix_, m));
        set(prefix_[rule.left][i], i < n_ && of_symbols(rule, 0, s + 1, i, n_) < none);
        // Seen: [0, i) as its end.
        for (std::size_t m = 1; m <= i; ++m)
          set(suffix_[rule.left][i],
              cut(rule.right[s], suffix_, m) && of_symbols(rule, s + 1, size, m, i) < none);
        set(suffix_[rule.left][i], i > 0 && of_symbols(rule, s, size, 0, i) < none);
      }
    }
    for (std::size_t s = 0; s < size; ++s) {
      set(infix_[rule.left], !rule.right[s].terminal && infix_[rule.right[s].id]);
      for (std::size_t e = s; e < size; ++e) {
        // From within s, or before it, to within e, or behind it.
        for (std::size_t a = 0; a <= n_; ++a) {
          if (!(a == 0 || cut(rule.right[s], suffix_, a))) continue;
          const std::size_t from = a == 0 ? s : s + 1;
          for (std::size_t b = a; b <= n_; ++b) {
            if (b == n_) {
              set(infix_[rule.left], n_ > 0 && from <= e + 1 && of_symbols(rule, from, e + 1, a, b) < none);
            } else if (from <= e && cut(rule.right[e], prefix_, b)) {
              set(infix_[rule.left], of_symbols(rule, from, e, a, b) < none);
            }
          }
        }
      }
    }
    return changed;
  }

  const Grammar& grammar_;
  std::string text_;
  std::size_t n_;
  std::vector<std::vector<std::vector<int>>> cost_;
  std::vector<std::vector<bool>> prefix_, suffix_;  // by where what is seen begins, ends
  std::vector<bool> infix_;
};

GrammarText letters(const std::string& text) {
  GrammarText letters;
  for (const char c : text) letters.codes.push_back(static_cast<unsigned char>(c));
  return letters;
}

std::string random_grammar(Rng& random) {
  static const std::vector<std::string> parts{"'a'", "'b'", "'ab'", "[ab]",      "s",    "t",
                                              "u",   "s?",  "t*",   "(u | 'b')", "'a'+", "(s t)?"};
  std::string text;
  for (const char name : {'s', 't', 'u'}) {
    text += fmt::format("{} ::= ", name);
    const std::size_t alternatives = 1 + random.below(3);
    for (std::size_t a = 0; a < alternatives; ++a) {
      if (a > 0) text += " | ";
      for (std::size_t p = random.below(4); p > 0; --p) text += parts[random.below(parts.size())] + " ";
    }
    text += "| 'a'\n";
  }
  return text;
}

// The nodes nest, and so many there are.
void expect_tree(const Parse& parse, std::size_t size) {
  for (const ParseNode& a : parse.nodes) {
    EXPECT_LT(a.begin, a.end);
    EXPECT_LE(a.end, size);
    for (const ParseNode& b : parse.nodes) {
      EXPECT_FALSE(a.begin < b.begin && b.begin < a.end && a.end < b.end) << "nodes that overlap";
    }
  }
}

TEST(Earley, AgreesWithPlainRecursionOverSpans) {
  Rng random(7);
  std::size_t parsed = 0, cut = 0, refused = 0;
  for (int g = 0; g < 150; ++g) {
    const std::string source = random_grammar(random);
    const Grammar grammar = parse_grammar(source, "random");
    const EarleyParser parser(grammar);
    for (int t = 0; t < 12; ++t) {
      std::string text;
      for (std::size_t i = 1 + random.below(5); i > 0; --i) text += random.below(2) == 0 ? 'a' : 'b';
      const std::string what = source + "on " + text;
      const Plain plain(grammar, text);
      const auto whole = parser.parse(letters(text), EarleyParser::Match::whole).parse;
      ASSERT_EQ(whole.has_value(), plain.cost() < Plain::none) << what;
      if (whole) {
        ASSERT_EQ(whole->nodes.size(), static_cast<std::size_t>(plain.cost())) << what;
        expect_tree(*whole, text.size());
        ++parsed;
      }
      const auto fragment = parser.parse(letters(text), EarleyParser::Match::fragment).parse;
      ASSERT_EQ(fragment.has_value(), plain.is_fragment()) << what;
      if (fragment) {
        expect_tree(*fragment, text.size());
        // Nothing is cut on the left where that need not be.
        ASSERT_EQ(!fragment->tops.empty() || (!fragment->nodes.empty() && fragment->nodes[0].begins_before),
                  !whole && !plain.continues())
            << what;
        ++cut;
      } else {
        ++refused;
      }
    }
  }
  EXPECT_GT(parsed, 100U);
  EXPECT_GT(cut, parsed);
  EXPECT_GT(refused, 10U);
}

// Trees by counting, for grammars without empty rules and without cycles.
std::size_t trees(const Grammar& grammar, const std::string& text, const Grammar::Symbol& symbol,
                  std::size_t i, std::size_t j);
std::size_t trees(const Grammar& grammar, const std::string& text,
                  const std::vector<Grammar::Symbol>& symbols, std::size_t from, std::size_t i,
                  std::size_t j) {
  if (from == symbols.size()) return i == j ? 1 : 0;
  std::size_t all = 0;
  for (std::size_t m = i + 1; m + (symbols.size() - from - 1) <= j; ++m) {
    const std::size_t first = trees(grammar, text, symbols[from], i, m);
    if (first > 0) all += first * trees(grammar, text, symbols, from + 1, m, j);
  }
  return all;
}
std::size_t trees(const Grammar& grammar, const std::string& text, const Grammar::Symbol& symbol,
                  std::size_t i, std::size_t j) {
  if (symbol.terminal)
    return j == i + 1 && grammar.terminals[symbol.id].takes(static_cast<unsigned char>(text[i])) ? 1 : 0;
  std::size_t all = 0;
  for (const std::size_t rule : grammar.nonterminals[symbol.id].rules)
    all += trees(grammar, text, grammar.rules[rule].right, 0, i, j);
  return all;
}

TEST(Earley, SaysWhetherThereAreSeveralParses) {
  Rng random(3);
  static const std::vector<std::string> parts{"'a'",    "'b'",  "'a' s", "s t",   "t 'b'",
                                              "[ab] t", "'ab'", "s s",   "u u u", "u 'a'"};
  std::size_t several = 0, one = 0;
  for (int g = 0; g < 100; ++g) {
    std::string source;
    for (const char name : {'s', 't', 'u'}) {
      source += fmt::format("{} ::= 'b'", name);
      for (std::size_t a = 1 + random.below(3); a > 0; --a)
        source += " | " + parts[random.below(parts.size())];
      source += "\n";
    }
    const Grammar grammar = parse_grammar(source, "random");
    const EarleyParser parser(grammar);
    for (int t = 0; t < 10; ++t) {
      std::string text;
      for (std::size_t i = 1 + random.below(6); i > 0; --i) text += random.below(2) == 0 ? 'a' : 'b';
      const std::size_t count = trees(grammar, text, Grammar::Symbol{false, grammar.start}, 0, text.size());
      const auto parse = parser.parse(letters(text), EarleyParser::Match::whole).parse;
      ASSERT_EQ(parse.has_value(), count > 0) << source << text;
      if (!parse) continue;
      // Other parses may lie outside of the simplest one's ways only where there are none at all.
      ASSERT_EQ(parse->ambiguous, count > 1) << source << text;
      ++(count > 1 ? several : one);
    }
  }
  EXPECT_GT(several, 50U);
  EXPECT_GT(one, 50U);
}

TEST(Earley, TakesDeepNestingWithoutRecursion) {
  const Grammar grammar = parse_grammar("s ::= '(' s ')' | 'x'", "deep");
  const EarleyParser parser(grammar);
  const std::size_t depth = 5000;
  const std::string text = std::string(depth, '(') + 'x' + std::string(depth, ')');
  const auto parse = parser.parse(letters(text), EarleyParser::Match::whole).parse;
  ASSERT_TRUE(parse);
  EXPECT_EQ(parse->nodes.size(), depth + 1);
}

}  // namespace
}  // namespace assay::inspection
