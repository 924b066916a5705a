// Symbols of given words.

#include <algorithm>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "assay/inspection/symbols/text.h"
#include "assay/support/ascii.h"
#include "assay/support/files/hash.h"

namespace assay::inspection {
namespace {

bool is_word_byte(char c) { return is_alphanumeric(c) || c == '_' || byte_of(c) >= 0x80; }

class Keywords final : public Annotator {
 public:
  explicit Keywords(const AnnotatorSetup& setup)
      : whole_(setup.options.word("whole", yes_no) == "yes"),
        ignore_case_(setup.options.word("case", cases) == "ignore"),
        words_(setup.options.words("words")) {
    if (const std::string& file = setup.options.text("file"); !file.empty()) {
      for (const std::string& line : read_lines(file)) words_.push_back(trimmed_line(line));
    }
    std::erase(words_, "");
    if (words_.empty()) fail(Fault::usage, "hypothesis 'keywords' needs words: keywords[words=SELECT+FROM]");
    if (ignore_case_)
      std::ranges::transform(words_, words_.begin(), [](const auto& word) { return lower_case(word); });
    std::vector<std::string> once;
    for (const std::string& word : words_) {
      if (std::ranges::find(once, word) == once.end()) once.push_back(word);
    }
    words_ = once;
    const std::string& name = setup.options.text("name");
    hypotheses_.push_back({name});
    for (const std::string& word : words_) hypotheses_.push_back({name + ":" + word});
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override {
    Hasher hasher;
    hasher.number(whole_ ? 1 : 0).number(ignore_case_ ? 1 : 0);
    for (const std::string& word : words_) hasher.text(word);
    return hasher.hex();
  }

  Behaviours annotate(const RecordBlock& records) const override {
    TextBehaviours behaviours(records, hypotheses_.size(), "keywords");
    for (std::size_t r = 0; r < records.size(); ++r) {
      const RecordText& record = records.texts[r];
      const std::string text = ignore_case_ ? lower_case(record.text) : record.text;
      for (std::size_t w = 0; w < words_.size(); ++w) {
        const std::size_t length = words_[w].size();
        for (std::size_t at = text.find(words_[w]); at != std::string::npos;
             at = text.find(words_[w], at + 1)) {
          if (whole_ && !is_whole(text, at, at + length, behaviours.symbols(r, at, at + length), record))
            continue;
          behaviours.mark(r, 0, at, at + length);
          behaviours.mark(r, w + 1, at, at + length);
        }
      }
    }
    return behaviours.take();
  }

 private:
  static inline const std::vector<std::string> yes_no{"yes", "no"}, cases{"sensitive", "ignore"};

  // No letter, digit or underscore touches it; or it is what one symbol of several characters says.
  static bool is_whole(const std::string& text, std::size_t begin, std::size_t end,
                       TextBehaviours::SymbolRange range, const RecordText& record) {
    if (end - begin > 1 && range.last == range.first + 1 && record.begins[range.first] == begin &&
        record.begins[range.last] == end)
      return true;
    const bool touched_before = begin > 0 && is_word_byte(text[begin - 1]) && is_word_byte(text[begin]);
    const bool touched_after = end < text.size() && is_word_byte(text[end]) && is_word_byte(text[end - 1]);
    return !touched_before && !touched_after;
  }

  bool whole_, ignore_case_;
  std::vector<std::string> words_;
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace

AnnotatorInfo keywords_annotator() {
  return {.name = "keywords",
          .summary = "symbols of given words, of each and of any",
          .definition =
              "'keywords' is 1 on the symbols of all words given, 'keywords:WORD' on those of one. A whole "
              "word has no letter, digit or underscore next to it, or is the text of one symbol",
          .limits =
              "a word that a record cuts off is not found, and its rest counts as whole; case is ignored for "
              "ASCII "
              "letters only",
          .paper = "Sellam et al., SIGMOD 2019",
          .options = {{"words", "", "joined by +"},
                      {"file", "", "more words, one a line"},
                      {"whole", "yes", "only whole words: yes or no"},
                      {"case", "sensitive", "sensitive or ignore"},
                      {"name", "keywords", "what results call them"}},
          .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
            return std::make_unique<Keywords>(setup);
          }};
}

}  // namespace assay::inspection
