#include "assay/data/worded.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/data/words.h"
#include "assay/support/memory.h"
#include "assay/support/text/text.h"
#include "assay/support/threads.h"

namespace assay::inline data {
namespace {

constexpr std::int64_t most_words_a_record = 1 << 20;

using Columns = std::vector<std::size_t>;  // positions in a table

// One input of the network for all records.
struct WordedInput {
  InputFacts facts;
  std::vector<std::int64_t> numbers = {};  // int64
  std::vector<float> reals = {};           // float32
};

class ColumnChooser {
 public:
  ColumnChooser(const CsvTable& table, const Columns& columns, const std::vector<FileInput>& inputs)
      : table_(table), columns_(columns), inputs_(inputs) {}

  // Of every input, by its name.
  std::map<std::string, Columns> run() const {
    std::map<std::string, Columns> chosen;
    std::size_t used = 0;
    for (const FileInput& input : inputs_) {
      const std::optional<Columns> found = by_name(input);
      if (!found && is_named_at_all()) refuse();
      if (!found) return in_order();
      used += found->size();
      chosen[input.name] = *found;
    }
    if (used != columns_.size()) refuse();
    return chosen;
  }

 private:
  // Named like the input, several of one input "NAME 0", "NAME 1".
  std::optional<Columns> by_name(const FileInput& input) const {
    std::vector<std::string> names = input.columns;
    if (names.empty() && input.width == 1) names = {input.name};
    for (std::int64_t i = 0; input.columns.empty() && input.width != 1 && i != input.width; ++i) {
      names.push_back(fmt::format("{} {}", input.name, i));
      if (position(names.back())) continue;
      if (input.width < 0) break;
      return std::nullopt;
    }
    if (input.width < 0) names.pop_back();
    Columns found;
    for (const std::string& name : names) {
      const std::optional<std::size_t> column = position(name);
      if (!column) return std::nullopt;
      found.push_back(*column);
    }
    return found.empty() ? std::nullopt : std::optional(found);
  }

  // Whether any column is named like an input: others then have wrong names.
  bool is_named_at_all() const {
    return std::ranges::any_of(inputs_, [&](const FileInput& input) {
      return position(input.name).has_value() || position(input.name + " 0").has_value() ||
             std::ranges::any_of(input.columns,
                                 [&](const std::string& name) { return position(name).has_value(); });
    });
  }

  std::optional<std::size_t> position(const std::string& name) const {
    const auto at = std::ranges::find(table_.header, name);
    if (at == table_.header.end()) return std::nullopt;
    const std::size_t column = at - table_.header.begin();
    if (std::ranges::find(columns_, column) == columns_.end()) return std::nullopt;
    return column;
  }

  std::map<std::string, Columns> in_order() const {
    const auto open = std::ranges::count(inputs_, -1, &FileInput::width);
    std::int64_t known = 0;
    for (const FileInput& input : inputs_) {
      if (input.width > std::ssize(columns_)) refuse();
      known += std::max<std::int64_t>(0, input.width);
    }
    const std::int64_t rest = std::ssize(columns_) - known;
    if (open > 1 || (open == 1 ? rest < 1 : rest != 0)) refuse();
    std::map<std::string, Columns> chosen;
    auto at = columns_.begin();
    for (const FileInput& input : inputs_) {
      const auto end = at + (input.width < 0 ? rest : input.width);
      chosen[input.name] = Columns(at, end);
      at = end;
    }
    return chosen;
  }

  [[noreturn]] void refuse() const {
    std::vector<std::string> wanted, given;
    for (const FileInput& input : inputs_) {
      std::string name = input.name;
      if (input.width != 1) name += input.width < 0 ? " (some)" : fmt::format(" ({})", input.width);
      wanted.push_back(std::move(name));
    }
    for (const std::size_t column : columns_)
      given.push_back(table_.header.empty() ? std::to_string(column) : table_.header[column]);
    fail(
        Fault::usage,
        "{}: the network takes the columns {}, and the table has {}; name them like the inputs or bring them "
        "in that order, and say ignore=COLUMN+COLUMN of others",
        table_.path, support::joined(wanted), support::joined(given));
  }

  const CsvTable& table_;
  const Columns& columns_;
  const std::vector<FileInput>& inputs_;
};

class WordedInputsMaker {
 public:
  WordedInputsMaker(const CsvTable& table, const Columns& columns, const DataSpec& spec)
      : table_(table),
        network_(spec.text("words")),
        texts_(text_inputs_of(network_)),
        words_(texts_.words),
        columns_(ColumnChooser(table, columns, texts_.given).run()) {
    if (!spec.has("length")) return;
    length_ = spec.integer("length", 0);
    if (length_ < 1 || length_ > most_words_a_record)
      fail(Fault::usage, "data option length={}: 1 to {} words", length_, most_words_a_record);
    if (std::ranges::none_of(texts_.made, &WordInput::is_cut))
      fail(Fault::usage, "data option length={}: this network does not cut texts into words; leave it out",
           length_);
  }

  std::string vocabulary() const { return vocabulary_of(texts_); }

  std::vector<WordedInput> run() const {
    std::vector<WordedInput> all;
    for (const FileInput& input : texts_.given) {
      if (!input.is_text) all.push_back(numbers_of(input));
      for (const WordInput& made : texts_.made)
        if (input.is_text && made.from == input.name)
          all.push_back(made.is_cut() ? words_of(made) : cells_of(made, input));
    }
    if (all.empty())
      fail(Fault::model,
           "words={}: nothing in this network reads its texts; name the network that looks words up",
           network_);
    return all;
  }

 private:
  // Columns of numbers. A key that a dictionary lacks is 0.
  WordedInput numbers_of(const FileInput& input) const {
    const Columns& columns = columns_.at(input.name);
    WordedInput made{.facts = {input.name, shape_of(input, columns), input.dtype}};
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      for (const std::size_t column : columns) {
        const std::string& cell = table_.rows[row][column];
        const bool lacks = !input.columns.empty() && cell.empty();
        const std::optional<bool> truth = truth_in(cell);
        add(made, lacks ? 0 : truth ? *truth : csv_number(table_, row, column), row, column);
      }
    }
    return made;
  }

  // As tables beside texts hold them.
  static std::optional<bool> truth_in(const std::string& cell) {
    if (cell == "True" || cell == "true") return true;
    if (cell == "False" || cell == "false") return false;
    return std::nullopt;
  }

  void add(WordedInput& to, double value, std::size_t row, std::size_t column) const {
    if (to.facts.dtype == DType::float32) return to.reals.push_back(static_cast<float>(value));
    if (value != std::floor(value) || std::abs(value) > 9e15)
      fail(Fault::data, "{}: row {}: '{}' is not a whole number, which input '{}' takes", table_.path,
           row + 1, table_.rows[row][column], to.facts.name);
    to.numbers.push_back(static_cast<std::int64_t>(value));
  }

  static Shape shape_of(const FileInput& input, const Columns& columns) {
    return input.rank < 2 ? Shape{} : Shape{std::ssize(columns)};
  }

  // A number for every cell.
  WordedInput cells_of(const WordInput& made, const FileInput& input) const {
    Columns columns = columns_.at(made.from);
    if (made.column) columns = {column_of(made)};
    WordedInput cells{.facts = {made.name, made.column ? Shape{1} : shape_of(input, columns), DType::int64}};
    const WordMaker maker(made.rules);
    for (std::size_t row = 0; row < table_.rows.size(); ++row)
      for (const std::size_t column : columns)
        cells.numbers.push_back(words_.number(cut(maker, row, column)[0]));
    require_known(cells, made.from);
    for (const Categories& categories : texts_.required)
      if (categories.from == made.from) require_categories(categories);
    return cells;
  }

  void require_categories(const Categories& known) const {
    Columns columns = columns_.at(known.from);
    if (known.column) columns = {column_at(known.from, *known.column)};
    for (std::size_t row = 0; row < table_.rows.size(); ++row)
      for (const std::size_t column : columns)
        if (!std::ranges::binary_search(known.texts, table_.rows[row][column]))
          fail(Fault::data,
               "{}: row {}: '{}' is none of the {} categories of {}, which fails for others (zeros=0); leave "
               "the row out, or export the network with zeros=1 (handle_unknown='ignore' in scikit-learn)",
               table_.path, row + 1, table_.rows[row][column], known.texts.size(), known.node);
  }

  std::size_t column_of(const WordInput& made) const { return column_at(made.from, *made.column); }

  std::size_t column_at(const std::string& input, std::int64_t place) const {
    const Columns& columns = columns_.at(input);
    if (place < 0 || place >= std::ssize(columns))
      fail(Fault::model, "column {} of input '{}', which has {}", place, input, columns.size());
    return columns[place];
  }

  std::vector<std::string> cut(const WordMaker& maker, std::size_t row, std::size_t column) const {
    try {
      return maker.words(table_.rows[row][column]);
    } catch (const Error& error) {
      fail(error.fault(), "{}: row {}: {}", table_.path, row + 1, error.message());
    }
  }

  // The numbers of the words of one column, filled up with 0.
  WordedInput words_of(const WordInput& made) const {
    const std::size_t column = column_of(made);
    const WordMaker maker(made.rules);
    std::vector<std::vector<std::int64_t>> rows(table_.rows.size());
    parallel_for(rows.size(), available_threads(), [&](std::size_t row) {
      check_interrupt();
      for (const std::string& word : cut(maker, row, column)) rows[row].push_back(words_.number(word));
    });
    std::size_t length = length_;
    for (const auto& row : rows)
      length = length_ > 0 ? length : std::max({length, row.size(), std::size_t{1}});
    require_memory(rows.size() * length * sizeof(std::int64_t), table_.path);
    WordedInput words{.facts = {made.name, {static_cast<std::int64_t>(length)}, DType::int64}};
    for (auto& row : rows) {
      row.resize(length);
      words.numbers.insert(words.numbers.end(), row.begin(), row.end());
    }
    require_known(words, made.from);
    return words;
  }

  // A column of other texts would make all records alike.
  void require_known(const WordedInput& made, const std::string& from) const {
    if (std::ranges::any_of(made.numbers, [](std::int64_t number) { return number != 0; })) return;
    fail(
        Fault::data,
        "{}: the network knows no word of its input '{}'; name the columns like the inputs, or bring them in "
        "their order",
        table_.path, from);
  }

  const CsvTable& table_;
  std::string network_;
  TextInputs texts_;
  WordTable words_;
  std::map<std::string, Columns> columns_;
  std::int64_t length_ = 0;  // 0: that of the longest text
};

class WordedSource final : public Source {
 public:
  WordedSource(std::unique_ptr<Source> rest, std::vector<WordedInput> inputs, std::string vocabulary)
      : rest_(std::move(rest)), inputs_(std::move(inputs)), vocabulary_(std::move(vocabulary)) {}

  std::size_t size() const override { return rest_->size(); }
  Shape shape() const override { return inputs_[0].facts.record_shape; }
  DType dtype() const override { return inputs_[0].facts.dtype; }
  std::string id(std::size_t index) const override { return rest_->id(index); }
  std::optional<std::int64_t> label(std::size_t index) const override { return rest_->label(index); }
  std::vector<std::string> class_names() const override { return rest_->class_names(); }
  std::vector<float> target(std::size_t index) const override { return rest_->target(index); }
  std::optional<std::vector<std::string>> column(const std::string& name) const override {
    return rest_->column(name);
  }
  std::vector<std::string> columns() const override { return rest_->columns(); }
  void read(std::size_t index, void* out) const override { copy(inputs_[0], index, out); }
  std::string input_name() const override { return inputs_.size() > 1 ? inputs_[0].facts.name : ""; }
  std::vector<InputFacts> others() const override {
    std::vector<InputFacts> facts;
    for (std::size_t i = 1; i < inputs_.size(); ++i) facts.push_back(inputs_[i].facts);
    return facts;
  }
  void read_other(std::size_t which, std::size_t index, void* out) const override {
    copy(inputs_[which + 1], index, out);
  }
  std::string format() const override {
    return vocabulary_.empty() ? rest_->format() + ", columns as inputs"
                               : "words of " + rest_->format() + ", " + vocabulary_;
  }

 private:
  static void copy(const WordedInput& input, std::size_t index, void* out) {
    const std::size_t size = element_count(input.facts.record_shape);
    const auto at = static_cast<std::ptrdiff_t>(index * size);
    if (input.facts.dtype == DType::float32)
      std::copy_n(input.reals.begin() + at, size, static_cast<float*>(out));
    else
      std::copy_n(input.numbers.begin() + at, size, static_cast<std::int64_t*>(out));
  }

  std::unique_ptr<Source> rest_;
  std::vector<WordedInput> inputs_;
  std::string vocabulary_;
};

}  // namespace

std::unique_ptr<Source> worded(std::unique_ptr<Source> rest, const CsvTable& table, const Columns& columns,
                               const DataSpec& spec) {
  const WordedInputsMaker maker(table, columns, spec);
  return std::make_unique<WordedSource>(std::move(rest), maker.run(), maker.vocabulary());
}

}  // namespace assay::inline data
