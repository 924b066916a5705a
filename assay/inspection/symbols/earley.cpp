#include "assay/inspection/symbols/earley.h"

#include <utility>

#include "assay/inspection/symbols/earley_reading.h"

namespace assay::inspection {

EarleyParser::EarleyParser(const Grammar& grammar, std::size_t most_items)
    : grammar_(grammar), most_items_(most_items), awaiting_(grammar.nonterminals.size()) {
  for (std::size_t r = 0; r < grammar.rules.size(); ++r) {
    const Grammar::Rule& rule = grammar.rules[r];
    first_.push_back(dotted_.size());
    for (std::size_t dot = 0; dot <= rule.right.size(); ++dot) {
      Dotted at{r, rule.left, Dotted::Next::end, 0, false};
      if (dot < rule.right.size()) {
        const Grammar::Symbol& next = rule.right[dot];
        at.next = next.terminal ? Dotted::Next::terminal : Dotted::Next::nonterminal;
        at.id = next.id;
        at.may_skip = !next.terminal && grammar.nonterminals[next.id].nullable && !(rule.repeats && dot == 1);
      }
      if (grammar.nonterminals[rule.left].reachable && dot < rule.right.size()) {
        if (dot > 0) middles_.push_back(dotted_.size());
        if (at.next == Dotted::Next::nonterminal) awaiting_[at.id].push_back(dotted_.size());
      }
      dotted_.push_back(at);
    }
  }
  for (const Grammar::Terminal& terminal : grammar.terminals) {
    std::vector<bool> takes(128);
    for (char32_t c = 0; c < 128; ++c) takes[c] = terminal.takes(c);
    ascii_.push_back(std::move(takes));
  }
}

EarleyParser::Outcome EarleyParser::parse(const GrammarText& text, Match match) const {
  EarleyChart complete(*this, text, match == Match::substrings ? match : Match::whole);
  if (!complete.fill()) return {std::nullopt, true};
  if (match == Match::substrings) return {EarleyReading(complete).substrings(), false};
  std::optional<Parse> parse = EarleyReading(complete).whole();
  if (parse || match == Match::whole) return {std::move(parse), false};
  parse = EarleyReading(complete).open();
  if (parse) return {std::move(parse), false};
  EarleyChart cut(*this, text, match);
  if (!cut.fill()) return {std::nullopt, true};
  return {EarleyReading(cut).open(), false};
}

}  // namespace assay::inspection
