// Symbols that a regular expression matches.

#include <re2/re2.h>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "assay/inspection/symbols/text.h"
#include "assay/support/files/hash.h"

namespace assay::inspection {
namespace {

class Regex final : public Annotator {
 public:
  explicit Regex(const AnnotatorSetup& setup) {
    const std::string& pattern = setup.options.text("pattern");
    const std::string& file = setup.options.text("file");
    if (pattern.empty() == file.empty()) {
      fail(Fault::usage, "hypothesis 'regex' needs a pattern or a file of patterns: regex[pattern=[0-9]+]");
    }
    const bool ignore_case = setup.options.word("case", cases) == "ignore";
    const std::string& name = setup.options.text("name");
    if (!pattern.empty()) {
      add(name.empty() ? pattern : name, pattern, "pattern", ignore_case);
      return;
    }
    std::size_t number = 0;
    for (const std::string& line : read_lines(file)) {
      ++number;
      if (trimmed_line(line).empty()) continue;
      const std::size_t tab = line.find('\t');
      const std::string place = fmt::format("{}, line {}", file, number);
      if (tab == std::string::npos || tab == 0)
        fail(Fault::data, "{}: a name, a tab and a pattern are needed", place);
      add(name + line.substr(0, tab), line.substr(tab + 1), place, ignore_case);
    }
    if (hypotheses_.empty()) fail(Fault::data, "{}: there is no pattern", file);
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return version_.hex(); }

  Behaviours annotate(const RecordBlock& records) const override {
    TextBehaviours behaviours(records, patterns_.size(), "regex");
    for (std::size_t r = 0; r < records.size(); ++r) {
      for (std::size_t p = 0; p < patterns_.size(); ++p)
        mark(records.texts[r].text, *patterns_[p], r, p, behaviours);
    }
    return behaviours.take();
  }

 private:
  static inline const std::vector<std::string> cases{"sensitive", "ignore"};

  void add(const std::string& name, const std::string& pattern, const std::string& place, bool ignore_case) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_case_sensitive(!ignore_case);
    auto compiled = std::make_unique<re2::RE2>(pattern, options);
    if (!compiled->ok())
      fail(Fault::usage, "{}: '{}' is not a regular expression: {}", place, pattern, compiled->error());
    patterns_.push_back(std::move(compiled));
    hypotheses_.push_back({name});
    version_.text(pattern).number(ignore_case ? 1 : 0);
  }

  static void mark(const std::string& text, const re2::RE2& pattern, std::size_t r, std::size_t p,
                   TextBehaviours& behaviours) {
    const re2::StringPiece all(text);
    for (std::size_t at = 0; at <= text.size();) {
      re2::StringPiece match;
      if (!pattern.Match(all, at, text.size(), re2::RE2::UNANCHORED, &match, 1)) return;
      const std::size_t begin = match.data() - text.data();
      behaviours.mark(r, p, begin, begin + match.size());
      at = begin + std::max<std::size_t>(match.size(), 1);
    }
  }

  std::vector<Hypothesis> hypotheses_;
  std::vector<std::unique_ptr<re2::RE2>> patterns_;
  mutable Hasher version_;
};

}  // namespace

AnnotatorInfo regex_annotator() {
  return {
      .name = "regex",
      .summary = "symbols that a regular expression matches",
      .definition =
          "1 on the symbols of all matches that do not overlap, from the left. Matches of no length mark "
          "nothing. A file has lines of a name, a tab and a pattern, a hypothesis each",
      .limits =
          "the syntax of RE2: no back-references and no looking around, so that time is linear in the text "
          "whatever the pattern. A pattern with a comma goes into a file",
      .paper = "Sellam et al., SIGMOD 2019",
      .options = {{"pattern", "", "the expression, as RE2 reads it"},
                  {"file", "", "several: lines of a name, a tab and a pattern"},
                  {"name", "", "what results call it, else the pattern; put in front of the names of a file"},
                  {"case", "sensitive", "sensitive or ignore"}},
      .endings = {".regex"},
      .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
        return std::make_unique<Regex>(setup);
      }};
}

}  // namespace assay::inspection
