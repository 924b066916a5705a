// Columns of CoNLL files: part of speech, chunks, entities, word by word.

#include <algorithm>
#include <map>
#include <set>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "assay/inspection/symbols/annotations.h"
#include "assay/inspection/symbols/text.h"
#include "assay/support/files/hash.h"

namespace assay::inspection {
namespace {

std::vector<std::string> conll_fields(const std::string& line) {
  const std::string_view separators = line.find('\t') == std::string::npos ? " " : "\t";
  std::vector<std::string> fields;
  for (std::size_t at = line.find_first_not_of(separators); at != std::string::npos;) {
    const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(separators, end);
  }
  return fields;
}

// Lines of CoNLL-U for anything that is not a word: "3-4" (written together) and "8.1" (left out in writing).
bool is_no_word(const std::string& id) {
  const std::size_t mark = id.find_first_of("-.");
  return mark != std::string::npos && mark > 0 && mark + 1 < id.size() &&
         id.find_first_not_of("0123456789") == mark &&
         id.find_first_not_of("0123456789", mark + 1) == std::string::npos;
}

class Conll final : public Annotator {
 public:
  explicit Conll(const AnnotatorSetup& setup) : file_(setup.options.text("file")) {
    if (file_.empty()) fail(Fault::usage, "hypothesis 'conll' needs a file: conll[file=test.conll,column=4]");
    read(setup.options.text("column"));
    std::set<std::string> tags;
    for (const auto& sentence : sentences_) tags.insert(sentence.begin(), sentence.end());
    const bool pieces = is_bio(tags);
    std::set<std::string> classes;
    for (const std::string& tag : tags) classes.insert(pieces ? without_piece(tag) : tag);
    for (const std::string& one : classes) codes_.emplace(one, codes_.size());
    for (auto& sentence : sentences_) {
      for (std::string& tag : sentence) tag = pieces ? without_piece(tag) : tag;
    }
    hypotheses_ = class_hypotheses(setup.options.text("name"), {classes.begin(), classes.end()});
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return version_; }

  Behaviours annotate(const RecordBlock& records) const override {
    const Shape& shape = records.dataset.record_shape();
    const std::size_t symbols = !records.texts.empty() ? symbols_of(records, "conll")
                                : shape.size() == 1    ? static_cast<std::size_t>(shape[0])
                                                       : 0;
    Behaviours behaviours{{static_cast<std::int64_t>(symbols)}, {}};
    for (std::size_t r = 0; r < records.size(); ++r) {
      const std::vector<std::string>& tags = sentence_of(records, r);
      std::vector<std::optional<std::size_t>> codes(symbols);
      std::size_t word = 0, places = 0;
      for (std::size_t k = 0; k < symbols; ++k) {
        if (!records.texts.empty() && records.texts[r].begins[k] == records.texts[r].begins[k + 1]) continue;
        ++places;
        if (word < tags.size()) codes[k] = codes_.at(tags[word++]);
      }
      if (word < tags.size() || (!records.texts.empty() && places != tags.size())) {
        fail(Fault::data, "hypothesis '{}', record '{}': {} symbols, but its sentence in {} has {} words",
             hypotheses_[0].name, records.dataset.id(records.batch.indices[r]), places, file_, tags.size());
      }
      append_classes(behaviours.values, codes, codes_.size());
    }
    return behaviours;
  }

 private:
  void read(const std::string& column) {
    std::vector<std::string> sentence;
    Hasher hasher;
    std::size_t number = 0;
    const auto finish = [&] {
      if (!sentence.empty()) sentences_.push_back(std::move(sentence));
      sentence.clear();
    };
    for (const std::string& line : read_lines(file_)) {
      ++number;
      hasher.text(line);
      const std::vector<std::string> fields = conll_fields(line);
      if (fields.empty()) finish();
      if (fields.empty() || line.starts_with("# ") || fields[0] == "-DOCSTART-" || is_no_word(fields[0]))
        continue;
      sentence.push_back(field_of(fields, column, number));
    }
    finish();
    if (sentences_.empty()) fail(Fault::data, "{}: there is no sentence", file_);
    version_ = hasher.hex();
  }
  std::string field_of(const std::vector<std::string>& fields, const std::string& column,
                       std::size_t number) const {
    if (column == "last") return fields.back();
    const bool digits =
        !column.empty() && column.size() < 6 && column.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t wanted = digits ? std::stoul(column) : 0;
    if (wanted == 0)
      fail(Fault::usage, "hypothesis 'conll': column '{}' is neither a number from 1 on nor last", column);
    if (wanted > fields.size())
      fail(Fault::data, "{}, line {}: {} columns, not {}", file_, number, fields.size(), wanted);
    return fields[wanted - 1];
  }

  // B-X, I-X and so on, and O for none.
  static bool is_bio(const std::set<std::string>& tags) {
    return std::ranges::all_of(tags,
                               [](const std::string& tag) {
                                 return tag == "O" ||
                                        (tag.size() > 2 && tag[1] == '-' &&
                                         std::string_view("BIESLU").find(tag[0]) != std::string_view::npos);
                               }) &&
           std::ranges::any_of(tags, [](const std::string& tag) { return tag != "O"; });
  }
  static std::string without_piece(const std::string& tag) { return tag == "O" ? tag : tag.substr(2); }

  const std::vector<std::string>& sentence_of(const RecordBlock& records, std::size_t r) const {
    const std::size_t number = record_number(records.dataset, records.batch.indices[r]);
    if (number < sentences_.size()) return sentences_[number];
    fail(Fault::data, "hypothesis '{}', record '{}': {} has {} sentences only", hypotheses_[0].name,
         records.dataset.id(records.batch.indices[r]), file_, sentences_.size());
  }

  std::string file_, version_;
  std::vector<std::vector<std::string>> sentences_;
  std::map<std::string, std::size_t> codes_;
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace

AnnotatorInfo conll_annotator() {
  return {
      .name = "conll",
      .summary = "a column of a CoNLL file: parts of speech, chunks, entities",
      .definition =
          "a sentence is a record, a word a symbol; blank lines separate sentences. The tags are one "
          "categorical "
          "hypothesis and a binary one for each, 'NAME:TAG'. Of tags in pieces (B-PER, I-PER, O) it is PER "
          "and O. "
          "Padding is don't-care",
      .limits =
          "sentence k is about record k (whose id, where that is a number), and has as many words as the "
          "record has "
          "symbols, padding left out",
      .paper = "Belinkov et al., Computational Linguistics 2020; Tjong Kim Sang and De Meulder, CoNLL 2003",
      .options = {{"file", "", "columns separated by tabs or blanks; CoNLL-U as well"},
                  {"column", "last", "number of the column, from 1, or last"},
                  {"name", "tag", "what results call it"}},
      .endings = {".conll", ".conllu"},
      .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
        return std::make_unique<Conll>(setup);
      }};
}

}  // namespace assay::inspection
