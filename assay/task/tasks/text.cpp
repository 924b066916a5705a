// Texts that a network writes step by step: connectionist temporal classification (CTC).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/engine/elements.h"
#include "assay/support/files/file.h"
#include "assay/support/text/characters.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/so_many.h"
#include "assay/task/counts.h"
#include "assay/task/sequences.h"

namespace assay::task {
namespace {

// A symbol a line; a blank is also one.
std::vector<std::string> alphabet_in(const std::string& file) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 24;
  std::vector<std::string> symbols = parts_of(read_file(file, most_bytes), "\n");
  if (symbols.back().empty()) symbols.pop_back();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].ends_with('\r')) symbols[i].pop_back();
    if (symbols[i].empty() || !character_codes(symbols[i]))
      fail(Fault::data, "{}: line {} is {}; an alphabet has one symbol a line", file, i + 1,
           symbols[i].empty() ? "empty" : "not UTF-8");
  }
  if (symbols.empty()) fail(Fault::data, "{}: there are no symbols, one a line", file);
  return symbols;
}

using Codes = std::vector<std::int64_t>;  // characters by number

bool is_space(std::int64_t code) { return code == ' ' || (code >= '\t' && code <= '\r'); }

Codes without_outer_spaces(const Codes& codes) {
  const auto first = std::ranges::find_if_not(codes, is_space);
  const auto last = std::find_if_not(codes.rbegin(), std::make_reverse_iterator(first), is_space).base();
  return {first, last};
}

// Words as numbers, equal ones having the same.
class Words {
 public:
  Codes of(const Codes& text) {
    Codes words, word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && !is_space(text[i])) {
        word.push_back(text[i]);
      } else if (!word.empty()) {
        words.push_back(numbers_.emplace(word, numbers_.size()).first->second);
        word.clear();
      }
    }
    return words;
  }

 private:
  std::map<Codes, std::size_t> numbers_;
};

class Text final : public Task {
 public:
  Text(const SpecOptions& options, const TaskSubject& subject)
      : by_symbol_(options.word("labels", std::vector<std::string>{"characters", "symbols"}) == "symbols"),
        probabilities_(subject.probabilities) {
    std::vector<std::string> symbols = alphabet_in(options.text("alphabet"));
    choose_axis(options, subject, symbols.size());
    place_blank(options, std::move(symbols));
    // What stands in both texts by class: symbols of one character; then another character, and nothing.
    for (std::size_t c = 0; c < symbols_.size(); ++c) {
      if (symbols_[c].size() == 1) classes_of_codes_.emplace(symbols_[c][0], c);
    }
    names_.insert(names_.end(), {"(another)", "(nothing)"});
  }

  std::string describe() const override {
    return fmt::format("text: {} along axis {}, {}, blank {}", so_many(symbols_.size() - 1, "symbol"),
                       axis_ + 1, so_many(steps_, "step"), blank_);
  }
  std::vector<std::string> class_names() const override { return names_; }

  Judgement judge(const JudgedRecord& record) const override {
    const Codes wanted = without_outer_spaces(wanted_in(record.targets)),
                decided = codes_of(decoded(record.output));
    Judgement judgement;
    std::size_t edits = 0;
    for (const auto& [w, d] : aligned(wanted, decided)) {
      judgement.wanted.push_back(w < 0 ? nothing() : class_of(wanted[w]));
      judgement.decided.push_back(d < 0 ? nothing() : class_of(decided[d]));
      judgement.places.push_back(d < 0 ? -1.0F : static_cast<float>(decided[d]));
      const bool right = w >= 0 && d >= 0 && wanted[w] == decided[d];
      edits += right ? 0 : 1;
    }
    judgement.sums = sums_of(judgement, names_.size());
    judgement.sums.records = 1;
    judgement.sums.right = judgement.sums.items - edits;
    judgement.sums.whole = edits == 0 ? 1 : 0;
    Words words;
    const Codes wanted_words = words.of(wanted), decided_words = words.of(decided);
    judgement.sums.amounts = {static_cast<double>(edits),
                              static_cast<double>(wanted.size()),
                              static_cast<double>(edit_distance(wanted_words, decided_words)),
                              static_cast<double>(wanted_words.size()),
                              wanted.empty() ? 1.0 : 0.0,
                              1.0};
    return judgement;
  }

  Items decide(std::span<const float> output) const override {
    Items items;
    for (const Written& one : decoded(output)) {
      items.classes.push_back(class_of(one.code));
      items.places.push_back(static_cast<float>(one.code));
    }
    return items;
  }

  // A character holds where a shortest way between the texts keeps it and puts nothing before it (at the end,
  // nor after it). It is led by the step that is surest of its symbol.
  std::vector<Lead> leads(std::span<const float> output, const Items& items) const override {
    const std::vector<Written> now = decoded(output);
    std::vector<std::size_t> there;  // of the items, those that the network wrote
    Codes held;
    for (std::size_t i = 0; i < items.classes.size(); ++i) {
      if (items.places[i] < 0) continue;
      there.push_back(i);
      held.push_back(static_cast<std::int64_t>(items.places[i]));
    }
    std::vector<Lead> leads(items.classes.size());
    std::size_t begin = 0;  // of the steps where a character that is missing would stand
    bool disturbed = false;
    const auto pairs = aligned(held, codes_of(now));
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const auto [w, d] = pairs[p];
      const Written* const one = d < 0 ? nullptr : &now[d];
      if (w < 0) {
        disturbed = true;
        if (p + 1 == pairs.size() && !there.empty()) disturb(leads[there.back()]);
        continue;
      }
      const std::size_t i = there[w];
      const bool kept = one != nullptr && one->code == held[w];
      if (kept) {
        leads[i] = lead_of(output, one->symbol, one->begin, one->end);
        leads[i].holds = true;
        if (disturbed) disturb(leads[i]);
      } else {
        leads[i] = lead_of_missing(output, items.classes[i], begin, next_begin(pairs, p, now));
      }
      disturbed = false;
      if (one != nullptr) begin = one->end;
    }
    return leads;
  }

  // Every step of the likeliest way to write the text, one after the other (Viterbi training).
  ItemRows rows(const Array& outputs, const Array& targets) const override {
    const std::int64_t classes = scores_, steps = steps_;
    Array scores = axis_ == 1 ? outputs.reshape({-1, classes})
                              : outputs.reshape({-1, classes, steps}).movedim(1, 2).reshape({-1, classes});
    constexpr float least = 1e-30F;  // so that a probability that was rounded to 0 has a logarithm
    if (probabilities_) scores = scores.clamp_min(least).log();
    const std::vector<float> all = floats_of(scores.detach()), wanted = floats_of(targets);
    const std::size_t records = outputs.size(0);
    std::vector<std::int64_t> labels;
    for (std::size_t r = 0; r < records; ++r) {
      const std::size_t width = wanted.size() / records, size = steps_ * scores_;
      const std::vector<std::int64_t> text = symbols_of(std::span(wanted).subspan(r * width, width));
      const std::vector<std::int64_t> path =
          likeliest_steps(std::span(all).subspan(r * size, size), scores_, text, blank_);
      if (path.empty() && steps_for(text) <= static_cast<std::size_t>(steps_))
        fail(Fault::data,
             "the network's scores of its text are -infinity at every way to write it; leave such records "
             "out");
      if (path.empty())
        fail(Fault::data,
             "its text of {} characters takes {} steps (one more between two that are equal), and the "
             "network has {}; leave such records out",
             text.size(), steps_for(text), steps_);
      labels.insert(labels.end(), path.begin(), path.end());
    }
    return {.scores = scores, .labels = array::tensor(labels)};
  }

  std::vector<Figure> figures(const Sums& sums) const override {
    std::vector<Figure> all;
    const auto rate = [&](const char* name, std::size_t at) {
      if (sums.amounts.size() > at + 1 && sums.amounts[at + 1] > 0)
        all.push_back(
            {.name = name, .value = sums.amounts[at] / sums.amounts[at + 1], .higher_is_better = false});
    };
    rate("character-error-rate", 0);
    rate("word-error-rate", 2);
    rate("empty-labels", 4);
    all.push_back({.name = "outside-alphabet", .value = outside_alphabet(sums), .higher_is_better = false});
    all.push_back({.name = "exact-match", .value = share(sums.whole, sums.records).value_or(0)});
    add_by_class(all, "recall", sums, recall);
    add_by_class(all, "precision", sums, precision);
    return all;
  }

 private:
  // The axis with a score for each symbol and the blank, or for each symbol of which one is the blank.
  void choose_axis(const SpecOptions& options, const TaskSubject& subject, std::size_t symbols) {
    const auto fits = [&](std::int64_t size) {
      return size == static_cast<std::int64_t>(symbols) || size == static_cast<std::int64_t>(symbols) + 1;
    };
    const Shape& shape = subject.output;
    if (shape.size() != 2 || (!fits(shape[0]) && !fits(shape[1])))
      fail(Fault::mismatch,
           "{}: the network gives {} a record, and not a score for each of {} symbols and a blank in every "
           "step; give its alphabet",
           options.owner(), to_string(shape), symbols);
    const std::string& axis = options.text("axis");
    if (axis.empty() && fits(shape[0]) && fits(shape[1]))
      fail(Fault::usage, "{}: both axes of {} fit {} symbols; give axis=1 or axis=2, that of the symbols",
           options.owner(), to_string(shape), symbols);
    axis_ = axis.empty() ? (fits(shape[0]) ? 0 : 1) : static_cast<int>(options.count("axis", 1)) - 1;
    if (axis_ > 1 || !fits(shape[axis_]))
      fail(Fault::mismatch, "{}: axis {} of {} does not fit {} symbols", options.owner(), axis_ + 1,
           to_string(shape), symbols);
    scores_ = shape[axis_];
    steps_ = shape[1 - axis_];
  }

  void place_blank(const SpecOptions& options, std::vector<std::string> symbols) {
    const std::string& given = options.text("blank");
    blank_ = given.empty() ? 0 : given == "last" ? scores_ - 1 : options.count("blank", 0);
    if (blank_ >= scores_)
      fail(Fault::usage, "{}: blank={} is not among {} scores, from 0 on", options.owner(), blank_, scores_);
    if (given.empty() && symbols.size() == scores_) require_blank(options, symbols[blank_]);
    if (symbols.size() < scores_) symbols.insert(symbols.begin() + blank_, "(blank)");
    names_ = std::move(symbols);
    for (const std::string& symbol : names_) {
      const std::vector<char32_t> codes = *character_codes(symbol);
      symbols_.emplace_back(codes.begin(), codes.end());
    }
    symbols_[blank_].clear();
    require_distinct(options);
  }

  // What stands for one symbol could not be told apart. The blank may be shown as a character that is there.
  void require_distinct(const SpecOptions& options) const {
    std::set<Codes> seen;
    for (std::size_t i = 0; i < symbols_.size(); ++i) {
      if (i != blank_ && !seen.insert(symbols_[i]).second)
        fail(Fault::data, "{}: '{}' is there twice; an alphabet has each symbol once",
             options.text("alphabet"), names_[i]);
    }
  }

  // An alphabet with one symbol too many has as many as there are scores, too; its first one would be lost.
  static void require_blank(const SpecOptions& options, const std::string& symbol) {
    const std::vector<std::string> usual = {"-", "_", "~", "\u03B5", "\u2205"};  // epsilon, the empty set
    if (character_codes(symbol)->size() > 1 || std::ranges::find(usual, symbol) != usual.end()) return;
    fail(Fault::mismatch,
         "{}: {} has as many symbols as the network has scores, so one of them is the blank, but the first "
         "one is '{}'; take out what the network does not write, or say which line is the blank's (blank=0 "
         "for the first, blank=last)",
         options.owner(), options.text("alphabet"), symbol);
  }

  std::int64_t nothing() const { return std::ssize(names_) - 1; }
  std::int64_t class_of(std::int64_t code) const {
    const auto found = classes_of_codes_.find(code);
    return found == classes_of_codes_.end() ? nothing() - 1 : found->second;
  }

  std::size_t index(std::size_t step, std::size_t symbol) const {
    return axis_ == 1 ? step * scores_ + symbol : symbol * steps_ + step;
  }

  // The likeliest symbol of a step, the first among equals; the blank where a score is NaN.
  std::size_t decided_at(std::span<const float> output, std::size_t step) const {
    std::size_t best = 0;
    for (std::size_t k = 0; k < scores_; ++k) {
      if (std::isnan(output[index(step, k)])) return blank_;
      if (output[index(step, k)] > output[index(step, best)]) best = k;
    }
    return best;
  }

  // A character, and the steps that write its symbol.
  struct Written {
    std::int64_t code = 0;
    std::size_t symbol = 0, begin = 0, end = 0;
  };

  // Greedy decoding (Graves et al., 2006): runs of a symbol are one, then blanks go; without outer spaces.
  std::vector<Written> decoded(std::span<const float> output) const {
    std::vector<Written> text;
    std::size_t before = blank_;
    for (std::size_t t = 0; t < (output.empty() ? 0 : steps_); ++t) {
      const std::size_t symbol = decided_at(output, t);
      if (symbol == before) {
        for (auto one = text.rbegin(); one != text.rend() && symbol != blank_ && one->end == t; ++one)
          one->end = t + 1;
        continue;
      }
      for (const std::int64_t code : symbols_[symbol]) text.push_back({code, symbol, t, t + 1});
      before = symbol;
    }
    const auto space = [](const Written& one) { return is_space(one.code); };
    const auto first = std::ranges::find_if_not(text, space);
    const auto last = std::find_if_not(text.rbegin(), std::make_reverse_iterator(first), space).base();
    return {first, last};
  }

  static Codes codes_of(std::span<const Written> text) {
    Codes codes;
    for (const Written& one : text) codes.push_back(one.code);
    return codes;
  }

  // How far a symbol is ahead, where it is that most among these steps.
  Lead lead_of(std::span<const float> output, std::size_t symbol, std::size_t begin, std::size_t end) const {
    Lead best{.value = -std::numeric_limits<float>::infinity()};
    for (std::size_t t = begin; t < end; ++t) {
      std::size_t rival = symbol == 0 ? 1 : 0;
      for (std::size_t k = 0; k < scores_; ++k) {
        if (k != symbol && output[index(t, k)] > output[index(t, rival)]) rival = k;
      }
      const float own = output[index(t, symbol)], other = output[index(t, rival)];
      if (!(own - other > best.value)) continue;
      best.own = index(t, symbol);
      best.rival = index(t, rival);
      best.value = own - other;
      best.scale = std::max(std::abs(own), std::abs(other));
    }
    return best;
  }

  // Of a character that is not there: how near it is between its neighbours, or to standing alone.
  Lead lead_of_missing(std::span<const float> output, std::int64_t of_class, std::size_t begin,
                       std::size_t end) const {
    Lead lead;
    if (of_class < static_cast<std::int64_t>(scores_) && begin < end)
      lead = lead_of(output, of_class, begin, end);
    lead.value = std::min(lead.value, 0.0F);
    return lead;
  }

  static void disturb(Lead& lead) {
    lead.holds = false;
    lead.value = std::min(lead.value, 0.0F);
  }

  // Where the next character begins that is written, after this pair.
  std::size_t next_begin(std::span<const std::pair<int, int>> pairs, std::size_t p,
                         std::span<const Written> now) const {
    for (const auto& [w, d] : pairs.subspan(p + 1)) {
      if (d >= 0) return now[d].begin;
    }
    return steps_;
  }

  // A blank parts characters that are equal.
  static std::size_t steps_for(std::span<const std::int64_t> text) {
    std::size_t steps = text.size();
    for (std::size_t i = 1; i < text.size(); ++i) steps += text[i] == text[i - 1] ? 1 : 0;
    return steps;
  }

  // The share of the characters of labels that no symbol writes.
  double outside_alphabet(const Sums& sums) const {
    std::uint64_t wanted = 0;
    for (std::int64_t c = 0; c < nothing() && c < std::ssize(sums.classes); ++c)
      wanted += sums.classes[c].wanted;
    return wanted > 0 ? static_cast<double>(sums.classes[nothing() - 1].wanted) / wanted : 0;
  }

  // Symbols of a text, for training. Throws Error{data} for a character that no symbol is.
  std::vector<std::int64_t> symbols_of(std::span<const float> targets) const {
    std::vector<std::int64_t> symbols;
    if (by_symbol_) {
      for (std::size_t i = 0; i < targets.size() && targets[i] != -1; ++i)
        symbols.push_back(static_cast<std::int64_t>(targets[i]));
      return symbols;
    }
    for (const std::int64_t code : without_outer_spaces(wanted_in(targets))) {
      const std::int64_t symbol = class_of(code);
      if (symbol >= static_cast<std::int64_t>(scores_))
        fail(Fault::data,
             "the character U+{:04X} of a label is not in the alphabet, so that the network cannot learn to "
             "write it; give the alphabet of the labels, or leave such records out",
             code);
      symbols.push_back(symbol);
    }
    return symbols;
  }

  Codes wanted_in(std::span<const float> targets) const {
    Codes text;
    for (std::size_t i = 0; i < targets.size() && targets[i] != -1; ++i) {
      const std::int64_t number = std::llround(targets[i]);
      const std::int64_t end = by_symbol_ ? std::ssize(symbols_) : 0x110000;
      if (static_cast<float>(number) != targets[i] || number < 0 || number >= end)
        fail(Fault::data, "label {} at position {} is not the number of a {}, and not -1, which fills up",
             targets[i], i, by_symbol_ ? "symbol" : "character");
      if (!by_symbol_) {
        text.push_back(number);
        continue;
      }
      const Codes& symbol = symbols_[number];
      text.insert(text.end(), symbol.begin(), symbol.end());
    }
    return text;
  }

  bool by_symbol_, probabilities_;
  int axis_ = 0;
  std::size_t scores_ = 0, steps_ = 0, blank_ = 0;
  std::vector<std::string> names_;
  std::vector<Codes> symbols_;  // by class: their characters, none of the blank
  std::map<std::int64_t, std::int64_t> classes_of_codes_;
};

}  // namespace

TaskInfo text_task() {
  return {
      .name = "text",
      .summary = "a text that is written step by step (recognition of print, handwriting and speech by CTC)",
      .definition =
          "the likeliest symbol of every step, runs of a symbol taken as one, without blanks; spaces at both "
          "ends of texts do not count. character-error-rate: characters to be replaced, left out or put in, "
          "over all records, by the characters that there are; word-error-rate: the same of words between "
          "spaces. empty-labels: records without a text as label. exact-match: records whose whole text is "
          "right. An item is a character, of the one text "
          "or the other; recall and precision of a symbol are those of one shortest way between the texts",
      .limits = "greedy decoding, no beams and no language model; upper and lower case differ",
      .paper = "Graves et al., ICML 2006 (CTC); Levenshtein, 1966",
      .options = {{"alphabet", "", "file with one symbol a line, in the order of the network's scores"},
                  {"blank", "",
                   "number of the blank among the scores, or last; empty: 0, where an alphabet with a line "
                   "for the blank names it so that it is not a character, such as <blank>"},
                  {"axis", "", "axis of the symbols, the batch axis counted as 0; empty: the one that fits"},
                  {"labels", "characters",
                   "characters: numbers of Unicode, as texts= of the data; symbols: numbers of scores"}},
      .fits = [](const TaskSubject&) { return false; },
      .make = [](const SpecOptions& options, const TaskSubject& subject) -> std::unique_ptr<Task> {
        if (options.text("alphabet").empty())
          fail(Fault::usage, "{}: give alphabet=FILE, one symbol a line", options.owner());
        return std::make_unique<Text>(options, subject);
      }};
}

}  // namespace assay::task
