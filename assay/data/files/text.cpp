// Text: one record a line as integer tokens, a label after the last tab if there is one.

#include <algorithm>
#include <map>

#include <assay/error.h>
#include <assay/extend/data_format.h>
#include "assay/data/bytes.h"
#include "assay/data/files/table.h"
#include "assay/data/labels.h"
#include "assay/support/ascii.h"
#include "assay/support/memory.h"
#include "assay/support/text/blanks.h"

namespace assay::inline data {
namespace {

constexpr std::size_t longest_line = 1 << 20;  // bytes; all records are as long as the longest

std::vector<std::string> lines_of(const std::string& text, const std::string& path) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end - begin > longest_line)
      fail(Fault::data, "{}:{}: a line of more than {} bytes is not reasonable", path, lines.size() + 1,
           longest_line);
    lines.push_back(text.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line + " ") {
    if (c != ' ' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

class TextSource final : public Source {
 public:
  explicit TextSource(const DataSpec& spec) {
    const std::string vocabulary = spec.text("vocab");
    if (!vocabulary.empty()) {
      for (const std::string& word : lines_of(read_maybe_gzipped(vocabulary), vocabulary))
        tokens_.emplace(word, static_cast<std::int64_t>(tokens_.size()));
    }
    unknown_ = spec.integer("unknown", 0);
    padding_ = spec.integer("padding", 0);
    const std::string contents = read_maybe_gzipped(spec.path);
    require_memory(contents.size() * (2 + sizeof(std::int64_t)), spec.path);
    take_lines(lines_of(contents, spec.path), spec.path);
    std::size_t longest = 0;
    for (const auto& record : records_) longest = std::max(longest, record.size());
    const std::int64_t length = spec.integer("length", std::max<std::int64_t>(1, longest));
    if (length < 1) fail(Fault::usage, "data option length={}: at least 1", length);
    length_ = length;
  }

  std::size_t size() const override { return records_.size(); }
  Shape shape() const override { return {static_cast<std::int64_t>(length_)}; }
  DType dtype() const override { return DType::int64; }
  std::optional<std::int64_t> label(std::size_t index) const override {
    if (classes_.labels.empty()) return std::nullopt;
    return classes_.labels[index];
  }
  std::vector<std::string> class_names() const override { return classes_.class_names; }
  void read(std::size_t index, void* out) const override {
    auto* values = static_cast<std::int64_t*>(out);
    std::fill_n(values, length_, padding_);
    const auto& record = records_[index];
    std::copy_n(record.begin(), std::min(record.size(), length_), values);
  }
  std::string format() const override {
    const std::string text = tokens_.empty() ? "text, characters" : "text, vocabulary";
    return classes_.class_names.empty() ? text : text + ", labels numbered in alphabetical order";
  }

 private:
  void take_lines(const std::vector<std::string>& lines, const std::string& path) {
    std::vector<std::string> labels;
    for (const std::string& line : lines) {
      const std::size_t tab = line.rfind('\t');
      if (tab != std::string::npos) {
        labels.push_back(without_blanks(line.substr(tab + 1)));
        if (labels.back().empty())
          fail(Fault::data, "{}: line {} has no label after its tab; leave such lines out", path,
               records_.size() + 1);
      }
      records_.push_back(encode(line.substr(0, tab)));
    }
    if (!labels.empty() && labels.size() != records_.size())
      fail(Fault::data, "{}: {} of {} lines have a label after a tab; all or none must", path, labels.size(),
           records_.size());
    classes_ = classes_of_texts(labels, path + ": label");
  }

  std::vector<std::int64_t> encode(const std::string& line) const {
    std::vector<std::int64_t> record;
    if (tokens_.empty()) {
      for (const char c : line) record.push_back(byte_of(c));
      return record;
    }
    for (const std::string& word : words_of(line)) {
      const auto it = tokens_.find(word);
      record.push_back(it == tokens_.end() ? unknown_ : it->second);
    }
    return record;
  }

  std::map<std::string, std::int64_t> tokens_;
  std::vector<std::vector<std::int64_t>> records_;
  ClassLabels classes_;
  std::int64_t unknown_ = 0, padding_ = 0;
  std::size_t length_ = 1;
};

// A line is a text, and what stands after its last tab its class.
std::unique_ptr<Source> tokenized_lines(const DataSpec& spec) {
  for (const char* const option : {"vocab", "unknown", "padding"}) {
    if (spec.has(option))
      fail(Fault::usage, "data '{}': tokenizer= says all of the tokens; leave out {}=", spec.path, option);
  }
  CsvTable table;
  table.path = spec.path;
  std::size_t labelled = 0;
  for (std::string line : lines_of(read_maybe_gzipped(spec.path), spec.path)) {
    const std::size_t tab = line.rfind('\t');
    labelled += tab != std::string::npos;
    table.rows.push_back(
        {line.substr(0, tab), tab == std::string::npos ? "" : without_blanks(line.substr(tab + 1))});
  }
  if (table.rows.empty()) fail(Fault::data, "{}: there are no lines", spec.path);
  if (labelled > 0 && labelled < table.rows.size())
    fail(Fault::data, "{}: {} of {} lines have a label after a tab; all or none must", spec.path, labelled,
         table.rows.size());
  DataSpec columns = spec;
  columns.options.insert_or_assign("text", std::string("0"));
  if (labelled > 0) columns.options.insert_or_assign("label", std::string("1"));
  return table_source(std::move(table), columns);
}

}  // namespace

FormatInfo text_format() {
  return {"text",
          "one record a line as character codes, or words by vocab=FILE; length=N cuts and pads; label after "
          "a tab; tokens by tokenizer=FILE",
          {"vocab", "length", "unknown", "padding", "tokenizer", "next"},
          [](const std::filesystem::path& path, std::string_view) { return path.extension() == ".txt"; },
          [](const DataSpec& spec) -> std::unique_ptr<Source> {
            if (spec.has("tokenizer")) return tokenized_lines(spec);
            if (spec.has("next"))
              fail(Fault::usage, "data '{}': next= is about tokens; say tokenizer= as well, a tokenizer.json",
                   spec.path);
            return std::make_unique<TextSource>(spec);
          }};
}

}  // namespace assay::inline data
