// Numbers that grow from symbol to symbol.

#include <limits>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "assay/inspection/symbols/text.h"
#include "assay/support/files/hash.h"

namespace assay::inspection {
namespace {

class Counter final : public Annotator {
 public:
  explicit Counter(const AnnotatorSetup& setup)
      : of_(setup.options.words("of")),
        delimiter_(setup.options.text("delimiter")),
        open_(setup.options.text("open")),
        close_(setup.options.text("close")) {
    if (delimiter_ == "space") delimiter_ = ' ';
    if (delimiter_ == "comma") delimiter_ = ',';
    for (const std::string& what : of_) {
      if (what != "position" && what != "since" && what != "depth")
        fail(Fault::usage, "hypothesis 'counter' counts position, since or depth, not '{}'", what);
      if (what == "since" && delimiter_.empty())
        fail(Fault::usage, "hypothesis 'counter' needs a delimiter: counter[of=since,delimiter=space]");
      if (what == "depth" && (open_.empty() || close_.empty()))
        fail(Fault::usage, "hypothesis 'counter' needs brackets: counter[of=depth,open=(,close=)]");
      const std::string& name = setup.options.text("name");
      hypotheses_.push_back({name.empty() ? what : name + ":" + what, BehaviourKind::numeric});
    }
    if (of_.empty())
      fail(Fault::usage, "hypothesis 'counter' needs what to count: counter[of=position+depth]");
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return Hasher().text(delimiter_).text(open_).text(close_).hex(); }

  Behaviours annotate(const RecordBlock& records) const override {
    TextBehaviours behaviours(records, of_.size(), "counter");
    for (std::size_t r = 0; r < records.size(); ++r) {
      for (std::size_t h = 0; h < of_.size(); ++h) count(records.texts[r], of_[h], behaviours.row(r, h));
    }
    return behaviours.take();
  }

 private:
  void count(const RecordText& record, const std::string& what, std::span<float> values) const {
    float counted = 0, depth = 0, since = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (record.begins[k] == record.begins[k + 1]) continue;
      const std::string_view symbol =
          std::string_view(record.text).substr(record.begins[k], record.begins[k + 1] - record.begins[k]);
      since = symbol == delimiter_ ? 0 : since + 1;
      if (symbol == open_) ++depth;
      values[k] = what == "position" ? counted : what == "since" ? since : depth;
      if (symbol == close_ && depth > 0) --depth;
      ++counted;
    }
  }

  std::vector<std::string> of_;
  std::string delimiter_, open_, close_;
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace

AnnotatorInfo counter_annotator() {
  return {
      .name = "counter",
      .summary = "position, symbols since a delimiter, depth of brackets",
      .definition =
          "'position': symbols before this one. 'since': symbols since the delimiter, 0 on it, don't-care "
          "before the first. 'depth': pairs of brackets that the symbol is in, its own included",
      .limits =
          "what was cut off in front of a record is not counted; a closing bracket without its opening one "
          "counts "
          "nothing",
      .paper = "Sellam et al., SIGMOD 2019",
      .options = {{"of", "position", "what to count, joined by +: position, since, depth"},
                  {"delimiter", "", "the symbol to count from; space and comma by name"},
                  {"open", "(", "the symbol that opens a bracket"},
                  {"close", ")", "the symbol that closes it"},
                  {"name", "", "put in front of the names"}},
      .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
        return std::make_unique<Counter>(setup);
      }};
}

}  // namespace assay::inspection
