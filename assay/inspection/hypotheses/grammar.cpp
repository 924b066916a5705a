// Where the non-terminals of a context-free grammar are in a record.

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <set>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "assay/inspection/symbols/counted_records.h"
#include "assay/inspection/symbols/earley.h"
#include "assay/inspection/symbols/grammar.h"
#include "assay/inspection/symbols/text.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/text.h"

namespace assay::inspection {
namespace {

constexpr std::uint64_t largest_grammar = std::uint64_t{16} << 20;

class GrammarAnnotator final : public Annotator {
 public:
  explicit GrammarAnnotator(const AnnotatorSetup& setup)
      : file_(setup.options.text("file")),
        match_(match_of(setup.options)),
        most_items_(setup.options.count("items", 1)) {
    if (file_.empty()) fail(Fault::usage, "hypothesis 'grammar' needs a file: grammar[file=sql.grammar]");
    const std::string text = read_file(file_, largest_grammar);
    version_ = hash_hex(text);
    grammar_ = parse_grammar(text, file_, setup.options.text("start"));
    parser_ = std::make_unique<EarleyParser>(grammar_, most_items_);
    for (const Grammar::Terminal& terminal : grammar_.terminals) tokens_ |= !terminal.token.empty();
    choose(setup.options.words("of"), setup.options.text("name"));
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return version_; }

  Behaviours annotate(const RecordBlock& records) const override {
    TextBehaviours behaviours(records, hypotheses_.size(), "grammar");
    const std::vector<char> fresh = counted_.note(records);
    for (std::size_t r = 0; r < records.size(); ++r)
      annotate_record(records.texts[r], r, fresh[r] != 0, behaviours);
    return behaviours.take();
  }

  std::vector<std::string> notices() const override {
    std::vector<std::string> all;
    const auto say = [&](std::size_t count, std::string_view what) {
      if (count > 0)
        all.push_back(fmt::format("{}: {} of {} records {}", file_, count, counted_.size(), what));
    };
    say(unparsed_, "do not parse, and are left out of its hypotheses");
    say(too_large_,
        fmt::format("need more than {} chart items, and are left out of its hypotheses", most_items_));
    say(ambiguous_, "have several parses, of which the simplest is taken");
    if (!unreachable_.empty())
      all.push_back(fmt::format("{}: its start does not lead to {}", file_, joined(unreachable_)));
    return all;
  }

 private:
  // Positions of the hypotheses of one non-terminal; depth only of recursive ones.
  struct Forms {
    std::size_t nonterminal, time, signal;
    std::optional<std::size_t> depth;
  };
  // Which of the chosen non-terminals are above another, if that lies before the text.
  struct Above {
    std::vector<bool> certain, possible;  // by forms_
  };

  static EarleyParser::Match match_of(const SpecOptions& options) {
    static const std::vector<std::string> words{"whole", "fragment", "substrings"};
    const std::string& word = options.word("match", words);
    if (word == "whole") return EarleyParser::Match::whole;
    return word == "fragment" ? EarleyParser::Match::fragment : EarleyParser::Match::substrings;
  }

  void choose(const std::vector<std::string>& wanted, const std::string& prefix) {
    std::set<std::string> left(wanted.begin(), wanted.end());
    std::vector<std::string> names;
    form_of_.assign(grammar_.nonterminals.size(), no_nonterminal);
    for (std::size_t id = 0; id < grammar_.nonterminals.size(); ++id) {
      const Grammar::Nonterminal& nonterminal = grammar_.nonterminals[id];
      if (nonterminal.name.empty()) continue;
      names.push_back(nonterminal.name);
      if (left.erase(nonterminal.name) == 0 && !wanted.empty()) continue;
      if (!nonterminal.reachable) {
        unreachable_.push_back("'" + nonterminal.name + "'");
        continue;
      }
      const std::string name = prefix + nonterminal.name;
      Forms forms{id, hypotheses_.size(), hypotheses_.size() + 1, std::nullopt};
      hypotheses_.push_back({name + ":time"});
      hypotheses_.push_back({name + ":signal"});
      if (nonterminal.recursive) {
        forms.depth = hypotheses_.size();
        hypotheses_.push_back({name + ":depth", BehaviourKind::numeric});
      }
      form_of_[id] = forms_.size();
      forms_.push_back(forms);
    }
    if (!left.empty()) {
      fail(Fault::usage, "{}: there is no non-terminal '{}'{}", file_, *left.begin(),
           did_you_mean(*left.begin(), names));
    }
  }

  // `counts`: in what is noticed.
  void annotate_record(const RecordText& record, std::size_t r, bool counts,
                       TextBehaviours& behaviours) const {
    const Characters characters = characters_of(record.text);
    if (characters.codes.empty()) return;
    const EarleyParser::Outcome outcome = parser_->parse(text_of(record, characters), match_);
    if (!outcome.parse) {
      (outcome.too_large ? too_large_ : unparsed_) += counts ? 1 : 0;
      behaviours.dont_care(r);
      return;
    }
    if (outcome.parse->ambiguous) ambiguous_ += counts ? 1 : 0;
    const Parse& parse = *outcome.parse;
    for (const ParseNode& node : parse.nodes) {
      if (node.certain) mark(node, characters, r, behaviours);
    }
    for (const ParseNode& node : parse.nodes) {
      if (!node.certain) mark_uncertain(node, characters, r, behaviours);
    }
    if (!parse.tops.empty()) mark_above(parse, characters, r, behaviours);
  }

  GrammarText text_of(const RecordText& record, const Characters& characters) const {
    GrammarText text{characters.codes, {}, {}};
    if (!tokens_) return text;
    text.symbols.resize(text.codes.size());
    text.lengths.resize(text.codes.size());
    const auto character_at = [&](std::size_t byte) {
      const auto at = std::ranges::lower_bound(characters.begins, byte);
      return at != characters.begins.end() && *at == byte ? at - characters.begins.begin()
                                                          : std::ptrdiff_t{-1};
    };
    for (std::size_t s = 0; s + 1 < record.begins.size(); ++s) {
      const std::ptrdiff_t first = character_at(record.begins[s]), last = character_at(record.begins[s + 1]);
      if (first < 0 || last <= first) continue;
      text.symbols[first] =
          std::string_view(record.text).substr(record.begins[s], record.begins[s + 1] - record.begins[s]);
      text.lengths[first] = last - first;
    }
    return text;
  }

  void mark(const ParseNode& node, const Characters& characters, std::size_t r,
            TextBehaviours& behaviours) const {
    if (form_of_[node.nonterminal] == no_nonterminal) return;
    const Forms& forms = forms_[form_of_[node.nonterminal]];
    const std::size_t begin = characters.begins[node.begin], end = characters.begins[node.end];
    behaviours.mark(r, forms.time, begin, end);
    if (!node.begins_before) behaviours.mark(r, forms.signal, begin, begin + 1);
    if (!node.ends_after) behaviours.mark(r, forms.signal, end - 1, end);
    if (forms.depth) deeper(*forms.depth, begin, end, r, behaviours);
  }

  // Don't-care where nothing else says that the symbols are covered.
  void mark_uncertain(const ParseNode& node, const Characters& characters, std::size_t r,
                      TextBehaviours& behaviours) const {
    if (form_of_[node.nonterminal] == no_nonterminal) return;
    const Forms& forms = forms_[form_of_[node.nonterminal]];
    const std::size_t begin = characters.begins[node.begin], end = characters.begins[node.end];
    forget(forms, behaviours.symbols(r, begin, end), r, behaviours);
    if (node.ends_after) return;
    float& last = behaviours.row(r, forms.signal)[behaviours.symbols(r, end - 1, end).first];
    if (last == 0) last = std::numeric_limits<float>::quiet_NaN();
  }
  static void forget(const Forms& forms, TextBehaviours::SymbolRange range, std::size_t r,
                     TextBehaviours& behaviours) {
    const float unknown = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t k = range.first; k < range.last; ++k) {
      if (behaviours.row(r, forms.time)[k] == 1) continue;
      behaviours.row(r, forms.time)[k] = unknown;
      if (forms.depth) behaviours.row(r, *forms.depth)[k] = unknown;
    }
  }

  static void deeper(std::size_t depth, std::size_t begin, std::size_t end, std::size_t r,
                     TextBehaviours& behaviours) {
    const TextBehaviours::SymbolRange range = behaviours.symbols(r, begin, end);
    for (std::size_t k = range.first; k < range.last; ++k) behaviours.row(r, depth)[k] += 1;
  }

  // What lies above the uppermost node that is seen: what must be there is, what may be is don't-care.
  void mark_above(const Parse& parse, const Characters& characters, std::size_t r,
                  TextBehaviours& behaviours) const {
    const std::size_t end = characters.begins.back();
    for (std::size_t f = 0; f < forms_.size(); ++f) {
      bool certain = true, possible = false;
      for (const std::size_t top : parse.tops) {
        certain &= above_of(top).certain[f];
        possible |= above_of(top).possible[f];
      }
      if (!possible) continue;
      const Forms& forms = forms_[f];
      if (certain) {
        behaviours.mark(r, forms.time, 0, end);
        if (forms.depth) deeper(*forms.depth, 0, end, r, behaviours);
      } else {
        forget(forms, behaviours.symbols(r, 0, end), r, behaviours);
      }
      // It may begin where the text does.
      if (parse.top_begins_before) continue;
      float& first = behaviours.row(r, forms.signal)[behaviours.symbols(r, 0, 1).first];
      if (first == 0) first = std::numeric_limits<float>::quiet_NaN();
    }
  }

  const Above& above_of(std::size_t top) const {
    const std::lock_guard lock(mutex_);
    const auto [known, added] = above_.try_emplace(top);
    Above& above = known->second;
    if (!added) return above;
    for (const Forms& forms : forms_) {
      above.possible.push_back(reachable_from(grammar_, parts_of(grammar_, forms.nonterminal))[top]);
      above.certain.push_back(above.possible.back() && top != grammar_.start && top != forms.nonterminal &&
                              !reachable_from(grammar_, {grammar_.start}, forms.nonterminal)[top]);
    }
    return above;
  }

  std::string file_, version_;
  EarleyParser::Match match_;
  std::size_t most_items_;
  Grammar grammar_;
  std::unique_ptr<EarleyParser> parser_;
  bool tokens_ = false;
  std::vector<Hypothesis> hypotheses_;
  std::vector<Forms> forms_;
  std::vector<std::size_t> form_of_;  // by non-terminal
  std::vector<std::string> unreachable_;
  mutable std::mutex mutex_;  // guards above_
  mutable std::map<std::size_t, Above> above_;
  mutable CountedRecords counted_;
  mutable std::atomic<std::size_t> unparsed_ = 0, too_large_ = 0, ambiguous_ = 0;
};

}  // namespace

AnnotatorInfo grammar_annotator() {
  return {
      .name = "grammar",
      .summary = "where the non-terminals of a context-free grammar are",
      .definition =
          "for each non-terminal NT 'NT:time', 1 on all symbols that it covers, and 'NT:signal', 1 on its "
          "first and "
          "its last symbol; for those that can contain themselves 'NT:depth', how many of them cover the "
          "symbol. "
          "Of several parses the one with the fewest nodes is taken, of these the one whose alternatives "
          "come first in the file, with their last parts as long as possible. match=fragment: the record may "
          "be cut out "
          "of a "
          "longer text, on neither side where it can be, else on the right, else on the left or both; "
          "non-terminals that may or may not be around it are don't-care. match=whole: it is one text of the "
          "grammar. match=substrings: such texts in it, the leftmost and longest; 0 between them",
      .limits =
          "a record that does not parse is don't-care; what was cut off cannot be known: depth counts what "
          "is "
          "seen and what must be around it",
      .paper =
          "Sellam et al., SIGMOD 2019; Earley, CACM 1970; Lang, Parsing incomplete sentences, COLING 1988",
      .options = {{"file", "", "the grammar, in the W3C's EBNF: name ::= \"text\" (other | [0-9]+)?"},
                  {"start", "", "non-terminal that texts are of; else the first"},
                  {"match", "fragment", "what a record is: whole, fragment or substrings of such a text"},
                  {"of", "", "non-terminals to bring, joined by +; else all"},
                  {"name", "", "put in front of their names"},
                  {"items", "2000000", "most chart items for one record"}},
      .endings = {".grammar"},
      .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
        return std::make_unique<GrammarAnnotator>(setup);
      }};
}

}  // namespace assay::inspection
