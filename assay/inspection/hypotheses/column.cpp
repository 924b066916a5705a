// Columns of a table: numbers or classes of records.

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "assay/data/files/csv.h"
#include "assay/inspection/symbols/annotations.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"

namespace assay::inspection {
namespace {

constexpr std::size_t most_column_classes = 1000;

std::optional<float> number_in(const std::string& cell) {
  float number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

class Columns final : public Annotator {
 public:
  explicit Columns(const AnnotatorSetup& setup) : table_(read_csv(needed_file(setup.options.text("file")))) {
    version_ = hash_hex(read_file(table_.path));
    if (const std::string& id = setup.options.text("id"); !id.empty()) index_by(table_.column(id));
    for (const std::string& name : setup.options.words("column")) add(table_.column(name), name, setup);
    if (columns_.empty())
      fail(Fault::usage, "hypothesis 'column' needs a column: column[file=x.csv,column=age]");
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return version_; }

  Behaviours annotate(const RecordBlock& records) const override {
    Behaviours behaviours;
    for (const std::size_t index : records.batch.indices) {
      const std::vector<std::string>& row = table_.rows[row_of(records.dataset, index)];
      for (const Column& column : columns_) append(behaviours.values, column, row[column.place]);
    }
    return behaviours;
  }

 private:
  struct Column {
    std::size_t place;
    std::map<std::string, std::size_t> classes;  // none: numbers
  };

  static const std::string& needed_file(const std::string& file) {
    if (file.empty()) fail(Fault::usage, "hypothesis 'column' needs a file: column[file=x.csv,column=age]");
    return file;
  }
  void index_by(std::size_t column) {
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      if (!row_of_.try_emplace(table_.rows[row][column], row).second)
        fail(Fault::data, "{}: two rows are about record '{}'", table_.path, table_.rows[row][column]);
    }
  }
  void add(std::size_t place, const std::string& shown, const AnnotatorSetup& setup) {
    const std::string name = setup.options.text("name") + shown;
    const std::string& wanted = setup.options.word("kind", kinds);
    std::set<std::string> cells;
    bool numbers = true;
    for (const auto& row : table_.rows) {
      if (row[place].empty()) continue;
      if (!number_in(row[place])) numbers = false;
      cells.insert(row[place]);
    }
    if (wanted == "numeric" && !numbers)
      fail(Fault::data, "{}: column '{}' has cells that are not numbers; use it as categorical", table_.path,
           shown);
    Column column{place, {}};
    if (wanted == "numeric" || (wanted == "auto" && numbers)) {
      hypotheses_.push_back({name, BehaviourKind::numeric});
    } else {
      if (cells.size() > most_column_classes)
        fail(Fault::data, "{}: column '{}' has more than {} classes", table_.path, shown,
             most_column_classes);
      for (const std::string& cell : cells) column.classes.emplace(cell, column.classes.size());
      for (Hypothesis& hypothesis : class_hypotheses(name, {cells.begin(), cells.end()}))
        hypotheses_.push_back(std::move(hypothesis));
    }
    columns_.push_back(std::move(column));
  }

  std::size_t row_of(const Dataset& dataset, std::size_t index) const {
    const std::string id = dataset.id(index);
    if (row_of_.empty()) {
      const std::size_t number = record_number(dataset, index);
      if (number < table_.rows.size()) return number;
    } else if (const auto known = row_of_.find(id); known != row_of_.end()) {
      return known->second;
    }
    fail(Fault::data, "hypothesis '{}', record '{}': {} has no row for it", hypotheses_[0].name, id,
         table_.path);
  }
  static void append(std::vector<float>& values, const Column& column, const std::string& cell) {
    if (!column.classes.empty()) {
      const auto code = column.classes.find(cell);
      append_classes(values, {code == column.classes.end() ? std::nullopt : std::optional(code->second)},
                     column.classes.size());
    } else {
      values.push_back(number_in(cell).value_or(std::numeric_limits<float>::quiet_NaN()));
    }
  }

  static inline const std::vector<std::string> kinds{"auto", "numeric", "categorical"};
  CsvTable table_;
  std::string version_;
  std::map<std::string, std::size_t> row_of_;  // by id; empty where rows are in the order of records
  std::vector<Column> columns_;
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace

AnnotatorInfo column_annotator() {
  return {
      .name = "column",
      .summary = "columns of a table (CSV), a value or a class for each record",
      .definition =
          "a column of numbers is one numeric hypothesis; any other is a categorical one and a binary one "
          "for each class, 'COLUMN:CLASS', in alphabetical order. An empty cell is don't-care",
      .limits =
          "one value a record. Without a column of ids, row k is about record k (whose id, where that is a "
          "number)",
      .paper = "Sellam et al., SIGMOD 2019",
      .options = {{"file", "", "the table: .csv or .tsv, gzipped or not"},
                  {"column", "", "header or number, several joined by +"},
                  {"id", "", "the column with ids of records; else rows are in their order"},
                  {"kind", "auto", "numeric, categorical, or auto: numeric where all cells are numbers"},
                  {"name", "", "put in front of the names"}},
      .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
        return std::make_unique<Columns>(setup);
      }};
}

}  // namespace assay::inspection
