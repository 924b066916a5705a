#include "assay/inspection/symbols/grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <assay/error.h>
#include "assay/inspection/symbols/text.h"
#include "assay/support/text/text.h"

namespace assay::inspection {
namespace {

constexpr std::size_t deepest_brackets = 200;
constexpr std::size_t most_grammar_symbols = 50'000;

struct GrammarPlace {
  std::size_t line = 1, column = 1;
};

using GrammarSymbols = std::vector<Grammar::Symbol>;

bool starts_name(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char32_t c) { return starts_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

// Reads one grammar, from its first character to its last.
class GrammarReader {
 public:
  GrammarReader(std::string_view text, std::string file)
      : text_(text), characters_(characters_of(text)), file_(std::move(file)) {}

  Grammar read(const std::string& start) {
    skip_space();
    if (at_end()) error(place_, "there is no rule; a grammar needs at least one: name ::= \"text\"");
    while (!at_end()) rule();
    for (const auto& [id, place] : used_) {
      if (!defined_.contains(id)) {
        error(place, "'{}' is not defined{}", grammar_.nonterminals[id].name,
              did_you_mean(grammar_.nonterminals[id].name, defined_names()));
      }
    }
    grammar_.start = start_of(start);
    return std::move(grammar_);
  }

  template <typename... Args>
  [[noreturn]] void error(const GrammarPlace& place, fmt::format_string<Args...> format,
                          Args&&... args) const {
    fail(Fault::data, "{}:{}:{}: {}", file_, place.line, place.column,
         fmt::format(format, std::forward<Args>(args)...));
  }
  const std::map<std::size_t, GrammarPlace>& defined() const { return defined_; }

 private:
  bool at_end() const { return at_ == characters_.codes.size(); }
  char32_t peek(std::size_t ahead = 0) const {
    return at_ + ahead < characters_.codes.size() ? characters_.codes[at_ + ahead] : 0;
  }
  char32_t next() {
    const char32_t c = peek();
    ++at_;
    place_ = c == '\n' ? GrammarPlace{place_.line + 1, 1} : GrammarPlace{place_.line, place_.column + 1};
    if (c >= no_character && c < no_character + 256) error(place_, "this is not UTF-8");
    return c;
  }
  std::string bytes(std::size_t from, std::size_t to) const {
    return std::string(
        text_.substr(characters_.begins[from], characters_.begins[to] - characters_.begins[from]));
  }
  bool sees(std::string_view word) const {
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (peek(i) != static_cast<char32_t>(word[i])) return false;
    }
    return true;
  }
  void skip(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) next();
  }
  void skip_space() {
    while (!at_end()) {
      if (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') {
        next();
      } else if (sees("/*")) {
        const GrammarPlace begin = place_;
        while (!sees("*/")) {
          if (at_end()) error(begin, "this comment has no end");
          next();
        }
        skip(2);
      } else {
        return;
      }
    }
  }
  std::string name() {
    const std::size_t begin = at_;
    while (continues_name(peek())) next();
    return bytes(begin, at_);
  }
  // Whether a rule starts here: a name and ::=. Stays where it is.
  bool at_rule() {
    if (!starts_name(peek())) return false;
    const auto before = std::pair(at_, place_);
    name();
    skip_space();
    const bool is_rule = sees("::=");
    std::tie(at_, place_) = before;
    return is_rule;
  }

  std::size_t nonterminal(const std::string& name) {
    const auto [known, added] = by_name_.try_emplace(name, grammar_.nonterminals.size());
    if (added) grammar_.nonterminals.push_back({name});
    return known->second;
  }
  Grammar::Symbol made(const std::vector<GrammarSymbols>& alternatives) {
    const std::size_t id = grammar_.nonterminals.size();
    grammar_.nonterminals.push_back({});
    for (const GrammarSymbols& right : alternatives) add_rule(id, right);
    return {false, id};
  }
  void add_rule(std::size_t left, GrammarSymbols right, bool repeats = false) {
    size_ += right.size() + 1;
    if (size_ > most_grammar_symbols)
      error(place_, "this grammar has more than {} symbols", most_grammar_symbols);
    grammar_.nonterminals[left].rules.push_back(grammar_.rules.size());
    grammar_.rules.push_back({left, std::move(right), repeats});
  }
  Grammar::Symbol terminal(Grammar::Terminal wanted) {
    std::string key = fmt::format("{}/{}/", wanted.token, wanted.negated);
    for (const auto& [low, high] : wanted.ranges)
      key += fmt::format("{}-{},", static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high));
    const auto [known, added] = terminals_.try_emplace(std::move(key), grammar_.terminals.size());
    if (added) grammar_.terminals.push_back(std::move(wanted));
    return {true, known->second};
  }

  void rule() {
    const GrammarPlace begin = place_;
    if (!starts_name(peek())) error(begin, "a rule starts with a name: name ::= \"text\"");
    const std::size_t left = nonterminal(name());
    skip_space();
    if (!sees("::=")) error(place_, "'{}' is followed by ::=", grammar_.nonterminals[left].name);
    skip(3);
    if (!defined_.try_emplace(left, begin).second) {
      error(begin, "'{}' is defined twice; join its alternatives with |", grammar_.nonterminals[left].name);
    }
    for (GrammarSymbols& right : alternatives(0)) add_rule(left, std::move(right));
    skip_space();
    if (!at_end() && !at_rule()) error(place_, "'{}' does not belong here", bytes(at_, at_ + 1));
  }

  std::vector<GrammarSymbols> alternatives(std::size_t depth) {
    std::vector<GrammarSymbols> all{sequence(depth)};
    while (sees("|")) {
      next();
      all.push_back(sequence(depth));
    }
    return all;
  }

  GrammarSymbols sequence(std::size_t depth) {
    GrammarSymbols all;
    for (skip_space(); !at_end() && peek() != '|' && peek() != ')' && !at_rule(); skip_space()) {
      const GrammarSymbols part = repeated(item(depth));
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  GrammarSymbols repeated(GrammarSymbols part) {
    for (skip_space(); peek() == '?' || peek() == '*' || peek() == '+'; skip_space()) {
      const char32_t mark = next();
      if (mark == '?') {
        part = {made({part, {}})};
        continue;
      }
      const Grammar::Symbol one = part.size() == 1 ? part[0] : made({part});
      const Grammar::Symbol all = made({mark == '*' ? GrammarSymbols{} : GrammarSymbols{one}});
      add_rule(all.id, {all, one}, true);
      part = {all};
    }
    return part;
  }

  GrammarSymbols item(std::size_t depth) {
    const GrammarPlace begin = place_;
    const char32_t c = peek();
    if (starts_name(c)) {
      const std::size_t id = nonterminal(name());
      used_.try_emplace(id, begin);
      return {{false, id}};
    }
    if (c == '"' || c == '\'') return literal();
    if (c == '[') return {character_class()};
    if (c == '#') {
      const char32_t code = numbered();
      return {terminal({{{code, code}}, false, ""})};
    }
    if (c == '<') return {token()};
    if (c == '(') {
      if (depth == deepest_brackets) error(begin, "brackets are nested more than {} deep", deepest_brackets);
      next();
      std::vector<GrammarSymbols> inside = alternatives(depth + 1);
      if (peek() != ')') error(begin, "this bracket has no end");
      next();
      return inside.size() == 1 ? std::move(inside[0]) : GrammarSymbols{made(inside)};
    }
    error(begin, "'{}' does not belong here", bytes(at_, at_ + 1));
  }

  GrammarSymbols literal() {
    const GrammarPlace begin = place_;
    const char32_t quote = next();
    GrammarSymbols all;
    while (peek() != quote) {
      if (at_end() || peek() == '\n') error(begin, "this text has no end; a line feed in it is written #xA");
      const char32_t code = next();
      all.push_back(terminal({{{code, code}}, false, ""}));
    }
    next();
    return all;
  }

  // "#x41"
  char32_t numbered() {
    const GrammarPlace begin = place_;
    next();
    std::uint32_t code = 0;
    bool any = false;
    if (peek() == 'x') {
      next();
      while (peek() < 128 && std::isxdigit(static_cast<int>(peek())) && code < 0x110000) {
        const auto digit = static_cast<char>(std::tolower(static_cast<int>(next())));
        code = code * 16 + static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
        any = true;
      }
    }
    if (!any || code >= 0x110000) error(begin, "a character by its number is written #x41, up to #x10FFFF");
    return code;
  }

  Grammar::Symbol character_class() {
    const GrammarPlace begin = place_;
    next();
    Grammar::Terminal wanted;
    if (peek() == '^') {
      next();
      wanted.negated = true;
    }
    const auto one = [&] { return sees("#x") ? numbered() : next(); };
    while (peek() != ']') {
      if (at_end() || peek() == '\n')
        error(begin, "this class has no end; ']' and a line feed are written #x5D and #xA");
      const char32_t low = one();
      char32_t high = low;
      if (peek() == '-' && peek(1) != ']' && peek(1) != 0) {
        next();
        high = one();
      }
      if (high < low) error(begin, "a range of this class runs backwards");
      wanted.ranges.emplace_back(low, high);
    }
    next();
    if (wanted.ranges.empty() && !wanted.negated) error(begin, "this class is empty");
    return terminal(std::move(wanted));
  }

  Grammar::Symbol token() {
    const GrammarPlace begin = place_;
    next();
    const std::size_t from = at_;
    while (peek() != '>') {
      if (at_end() || peek() == '\n') error(begin, "this symbol has no end: <name>");
      next();
    }
    std::string text = bytes(from, at_);
    next();
    if (text.empty()) error(begin, "this symbol has no name: <name>");
    return terminal({{}, false, std::move(text)});
  }

  std::vector<std::string> defined_names() const {
    std::vector<std::string> names;
    for (const auto& [id, place] : defined_) names.push_back(grammar_.nonterminals[id].name);
    return names;
  }
  std::size_t start_of(const std::string& name) const {
    if (name.empty()) return grammar_.rules.empty() ? 0 : first_defined();
    const auto known = by_name_.find(name);
    if (known == by_name_.end()) {
      fail(Fault::usage, "{}: there is no '{}' to start with{}", file_, name,
           did_you_mean(name, defined_names()));
    }
    return known->second;
  }
  std::size_t first_defined() const {
    return std::ranges::min_element(
               defined_, {},
               [](const auto& entry) { return std::pair(entry.second.line, entry.second.column); })
        ->first;
  }

  std::string_view text_;
  Characters characters_;
  std::string file_;
  std::size_t at_ = 0, size_ = 0;
  GrammarPlace place_;
  Grammar grammar_;
  std::map<std::string, std::size_t> by_name_, terminals_;
  std::map<std::size_t, GrammarPlace> defined_, used_;
};

// Which non-terminals have a rule of only `good` ones and, where allowed, terminals.
std::vector<bool> derivable(const Grammar& grammar, bool terminals) {
  std::vector<bool> good(grammar.nonterminals.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (const Grammar::Rule& rule : grammar.rules) {
      if (good[rule.left]) continue;
      if (!std::ranges::all_of(rule.right, [&](const Grammar::Symbol& symbol) {
            return symbol.terminal ? terminals : good[symbol.id];
          }))
        continue;
      good[rule.left] = changed = true;
    }
  }
  return good;
}

}  // namespace

bool Grammar::Terminal::takes(char32_t code) const {
  if (!token.empty()) return false;
  const bool inside = std::ranges::any_of(
      ranges, [&](const auto& range) { return range.first <= code && code <= range.second; });
  return inside != negated;
}

std::vector<bool> reachable_from(const Grammar& grammar, const std::vector<std::size_t>& roots,
                                 std::size_t without) {
  std::vector<bool> seen(grammar.nonterminals.size());
  std::vector<std::size_t> open;
  const auto visit = [&](std::size_t id) {
    if (id == without) return;
    if (!seen[id]) open.push_back(id);
    seen[id] = true;
  };
  for (const std::size_t root : roots) visit(root);
  while (!open.empty()) {
    const std::size_t id = open.back();
    open.pop_back();
    for (const std::size_t rule : grammar.nonterminals[id].rules) {
      for (const Grammar::Symbol& symbol : grammar.rules[rule].right) {
        if (!symbol.terminal) visit(symbol.id);
      }
    }
  }
  return seen;
}

std::vector<std::size_t> parts_of(const Grammar& grammar, std::size_t id) {
  std::vector<std::size_t> parts;
  for (const std::size_t rule : grammar.nonterminals[id].rules) {
    for (const Grammar::Symbol& symbol : grammar.rules[rule].right) {
      if (!symbol.terminal) parts.push_back(symbol.id);
    }
  }
  return parts;
}

Grammar parse_grammar(std::string_view text, const std::string& file, const std::string& start) {
  GrammarReader reader(text, file);
  Grammar grammar = reader.read(start);
  const std::vector<bool> productive = derivable(grammar, true), nullable = derivable(grammar, false),
                          reachable = reachable_from(grammar, {grammar.start});
  for (const auto& [id, place] : reader.defined()) {
    if (!productive[id])
      reader.error(place, "'{}' never ends: all its alternatives need it again",
                   grammar.nonterminals[id].name);
  }
  for (std::size_t id = 0; id < grammar.nonterminals.size(); ++id) {
    grammar.nonterminals[id].nullable = nullable[id];
    grammar.nonterminals[id].reachable = reachable[id];
    if (!grammar.nonterminals[id].name.empty())
      grammar.nonterminals[id].recursive = reachable_from(grammar, parts_of(grammar, id))[id];
  }
  return grammar;
}

}  // namespace assay::inspection
