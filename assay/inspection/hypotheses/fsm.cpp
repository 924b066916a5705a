// States of a finite-state machine that reads the record.

#include <algorithm>
#include <atomic>
#include <optional>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "assay/inspection/symbols/counted_records.h"
#include "assay/inspection/symbols/grammar.h"
#include "assay/inspection/symbols/text.h"
#include "assay/support/files/hash.h"

namespace assay::inspection {
namespace {

class Machine final : public Annotator {
 public:
  explicit Machine(const AnnotatorSetup& setup) : file_(setup.options.text("file")) {
    if (file_.empty()) fail(Fault::usage, "hypothesis 'fsm' needs a file: fsm[file=quotes.fsm]");
    std::size_t number = 0;
    Hasher hasher;
    for (const std::string& line : read_lines(file_)) {
      hasher.text(line);
      read(line, ++number);
    }
    version_ = hasher.hex();
    if (states_.empty()) fail(Fault::data, "{}: there is no transition: STATE INPUT -> STATE", file_);
    const std::string& name = setup.options.text("name");
    hypotheses_.push_back({name, BehaviourKind::categorical, states_});
    for (const std::string& state : states_) hypotheses_.push_back({name + ":" + state});
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return version_; }

  Behaviours annotate(const RecordBlock& records) const override {
    TextBehaviours behaviours(records, hypotheses_.size(), "fsm");
    const std::vector<char> fresh = counted_.note(records);
    for (std::size_t r = 0; r < records.size(); ++r) {
      const bool stuck = run(records.texts[r], r, behaviours);
      stuck_ += stuck && fresh[r] != 0 ? 1 : 0;
    }
    return behaviours.take();
  }
  std::vector<std::string> notices() const override {
    if (stuck_ == 0) return {};
    return {fmt::format("{}: {} of {} records reach a symbol without a transition; don't-care from there on",
                        file_, stuck_.load(), counted_.size())};
  }

 private:
  struct Transition {
    std::size_t from, to;
    std::vector<Grammar::Terminal> inputs;  // none: any symbol
  };

  [[noreturn]] void refuse(std::size_t number, std::string_view why) const {
    fail(Fault::data, "{}, line {}: {}; a transition reads: STATE INPUT -> STATE", file_, number, why);
  }
  std::size_t state(const std::string& name) {
    const auto known = std::ranges::find(states_, name);
    const std::size_t place = known - states_.begin();
    if (known == states_.end()) states_.push_back(name);
    return place;
  }

  void read(const std::string& line, std::size_t number) {
    const std::string text = trimmed_line(line);
    if (text.empty() || text.starts_with("#")) return;
    const std::size_t arrow = text.rfind("->"), space = text.find_first_of(" \t");
    if (arrow == std::string::npos) refuse(number, "there is no ->");
    if (space == std::string::npos || space > arrow) refuse(number, "there is no input");
    const std::string to = trimmed_line(text.substr(arrow + 2)),
                      input = trimmed_line(text.substr(space, arrow - space));
    if (to.empty() || to.find_first_of(" \t") != std::string::npos) refuse(number, "one state follows ->");
    if (input.empty()) refuse(number, "there is no input");
    Transition transition{state(text.substr(0, space)), state(to), {}};
    if (input != "*") transition.inputs = inputs_of(input, number);
    transitions_.push_back(std::move(transition));
  }

  // The notation of grammars: 'x', [a-z], <word>, and these joined by |.
  std::vector<Grammar::Terminal> inputs_of(const std::string& input, std::size_t number) const {
    const Grammar grammar =
        parse_grammar("input ::= " + input, fmt::format("{}, line {}, input", file_, number));
    for (const Grammar::Rule& rule : grammar.rules) {
      if (rule.right.size() != 1 || !rule.right[0].terminal)
        refuse(number, "an input is one symbol, as 'x' | [a-z] | <word>");
    }
    return grammar.terminals;
  }

  static bool takes(const Transition& transition, std::string_view symbol) {
    if (transition.inputs.empty()) return true;
    const Characters characters = characters_of(symbol);
    return std::ranges::any_of(transition.inputs, [&](const Grammar::Terminal& input) {
      return input.token.empty() ? characters.codes.size() == 1 && input.takes(characters.codes[0])
                                 : input.token == symbol;
    });
  }

  // Whether it reaches a symbol without a transition.
  bool run(const RecordText& record, std::size_t r, TextBehaviours& behaviours) const {
    std::optional<std::size_t> now = 0;
    for (std::size_t k = 0; k + 1 < record.begins.size(); ++k) {
      if (record.begins[k] == record.begins[k + 1]) continue;
      const std::string_view symbol =
          std::string_view(record.text).substr(record.begins[k], record.begins[k + 1] - record.begins[k]);
      if (now) {
        const auto next = std::ranges::find_if(transitions_, [&](const Transition& transition) {
          return transition.from == *now && takes(transition, symbol);
        });
        if (next == transitions_.end()) {
          now.reset();
        } else {
          now = next->to;
        }
      }
      for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
        float& value = behaviours.row(r, h)[k];
        if (!now) value = std::numeric_limits<float>::quiet_NaN();
        if (now) value = h == 0 ? static_cast<float>(*now) : *now + 1 == h ? 1.0F : 0.0F;
      }
    }
    return !now;
  }

  std::string file_, version_;
  std::vector<std::string> states_;
  std::vector<Transition> transitions_;
  std::vector<Hypothesis> hypotheses_;
  mutable CountedRecords counted_;
  mutable std::atomic<std::size_t> stuck_ = 0;
};

}  // namespace

AnnotatorInfo fsm_annotator() {
  return {.name = "fsm",
          .summary = "states of a finite-state machine that reads the record",
          .definition =
              "'state' is the state after the symbol was read, 'state:NAME' is 1 where it is that one. A "
              "file has "
              "lines STATE INPUT -> STATE: input is 'x', [a-z], <word> or several joined by |, or * for any "
              "symbol; the first line that fits counts, the first state of the file is where a record begins",
          .limits =
              "a symbol without a transition makes the rest of the record don't-care; a record that was cut "
              "out of a "
              "longer text begins in the first state all the same",
          .paper = "Sellam et al., SIGMOD 2019",
          .options = {{"file", "", "the transitions; lines that begin with # are comments"},
                      {"name", "state", "what results call it"}},
          .endings = {".fsm"},
          .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
            return std::make_unique<Machine>(setup);
          }};
}

}  // namespace assay::inspection
