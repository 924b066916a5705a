// A custom hypothesis: the symbols of words that read the same backwards.
#include <algorithm>
#include <limits>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include <assay/extend/plugin.h>

namespace {

using namespace assay;
using namespace assay::inspection;

class Palindromes final : public Annotator {
 public:
  explicit Palindromes(std::size_t least) : least_(least) {}

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return "1, " + std::to_string(least_); }

  Behaviours annotate(const RecordBlock& records) const override {
    if (records.texts.empty()) fail(Fault::usage, "hypothesis 'palindrome' needs a vocabulary");
    const std::size_t symbols = records.texts[0].begins.size() - 1;
    Behaviours behaviours{{static_cast<std::int64_t>(symbols)}, {}};
    for (const RecordText& record : records.texts) {
      std::vector<bool> inside(record.text.size());
      for (std::size_t begin = 0; begin < record.text.size();) {
        const std::size_t end = std::min(record.text.find(' ', begin), record.text.size());
        const std::string word = record.text.substr(begin, end - begin);
        if (word.size() >= least_ && std::equal(word.begin(), word.end(), word.rbegin()))
          std::fill_n(inside.begin() + static_cast<std::ptrdiff_t>(begin), word.size(), true);
        begin = end + 1;
      }
      for (std::size_t k = 0; k < symbols; ++k) {
        const bool padding = record.begins[k] == record.begins[k + 1];
        behaviours.values.push_back(padding ? std::numeric_limits<float>::quiet_NaN()
                                            : static_cast<float>(inside[record.begins[k]]));
      }
    }
    return behaviours;
  }

 private:
  std::size_t least_;
  std::vector<Hypothesis> hypotheses_{{"palindrome", BehaviourKind::binary}};
};

void enter() {
  annotators().add({.name = "palindrome",
                    .summary = "words that read the same backwards",
                    .definition = "1 on the symbols of words between blanks that equal themselves reversed",
                    .limits = "an example",
                    .paper = "an example",
                    .options = {{"least", "3", "letters that a word has at least"}},
                    .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
                      return std::make_unique<Palindromes>(setup.options.count("least", 1));
                    }});
}

}  // namespace

ASSAY_PLUGIN("palindrome", enter)
