#include "assay/data/files/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include <assay/error.h>
#include <assay/extend/data_format.h>
#include <assay/progress.h>
#include "assay/data/bytes.h"
#include "assay/data/characteristics.h"
#include "assay/data/files/table.h"
#include "assay/data/tokenized.h"
#include "assay/data/worded.h"
#include "assay/model/folder.h"
#include "assay/support/memory.h"
#include "assay/support/text/text.h"

namespace assay::inline data {
namespace {

// Beyond these a table is an attack or a mistake.
constexpr std::size_t longest_field = 1 << 20, most_columns = 1'000'000;
constexpr std::uint64_t between_checks = 1 << 20;  // bytes

// `decimal`: the character between whole and fraction, a point or a comma.
bool to_number(std::string_view text, char decimal, double& value) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::string with_point;
  if (decimal == ',') {
    if (text.find('.') != std::string_view::npos) return false;
    with_point = text;
    if (const std::size_t comma = with_point.find(','); comma != std::string::npos) with_point[comma] = '.';
    text = with_point;
  }
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  // A number beyond all bounds is a number, not a name.
  if (code == std::errc::result_out_of_range) value = std::numeric_limits<double>::infinity();
  return code != std::errc::invalid_argument && end == text.data() + text.size();
}

// Whether the text is a number once commas are decimal.
bool has_decimal_comma(std::string_view text) {
  double value = 0;
  return text.find(',') != std::string_view::npos && to_number(text, ',', value);
}

char separator_of(const std::string& text, char decimal) {
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  const auto count = [&](char c) { return std::count(line.begin(), line.end(), c); };
  if (decimal == ',') return count('\t') > count(';') ? '\t' : ';';
  if (count('\t') > count(',') && count('\t') > count(';')) return '\t';
  return count(';') > count(',') ? ';' : ',';
}

// "1,5;2,5" where commas separate: "5;2" is in the middle.
bool is_split_at_decimal_commas(const CsvTable& table, std::size_t row) {
  const auto& fields = table.rows[row];
  return table.separator == ',' && std::ranges::any_of(fields, [](const std::string& field) {
           double value = 0;
           const std::size_t semicolon = field.find(';');
           return semicolon != std::string::npos && to_number(field.substr(0, semicolon), '.', value);
         });
}

std::vector<std::vector<std::string>> parse(const std::string& text, const std::string& path,
                                            char separator) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string field;
  bool quoted = false;
  std::size_t line = 1;
  std::uint64_t bytes = text.size(), checked = 0;
  const auto end_field = [&] {
    if (field.size() > longest_field)
      fail(Fault::data, "{}:{}: a field of more than {} bytes is not reasonable", path, line, longest_field);
    if (row.size() == most_columns)
      fail(Fault::data, "{}:{}: more than {} columns are not reasonable", path, line, most_columns);
    bytes += sizeof(std::string) + (field.capacity() > sizeof(std::string) ? field.capacity() : 0);
    if (bytes > checked + between_checks) {
      require_memory(checked = bytes, path);
      check_interrupt();
    }
    row.push_back(std::move(field));
    field.clear();
  };
  const auto end_row = [&] {
    end_field();
    bytes += sizeof row;
    if (row.size() > 1 || !row[0].empty()) {
      if (!rows.empty() && rows[0].size() != row.size()) {
        fail(Fault::data, "{}:{}: {} fields where the rows before have {}", path, line, row.size(),
             rows[0].size());
      }
      rows.push_back(std::move(row));
    }
    row.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      line += c == '\n';
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"')
        field += text[++i];
      else if (c == '"')
        quoted = false;
      else
        field += c;
    } else if (c == '"' && field.empty()) {
      quoted = true;
    } else if (c == separator) {
      end_field();
    } else if (c == '\n') {
      end_row();
      ++line;
    } else if (c != '\r') {
      field += c;
    }
  }
  if (quoted) fail(Fault::data, "{}:{}: a quote is never closed", path, line);
  if (!field.empty() || !row.empty()) end_row();
  return rows;
}

class CsvSource final : public Source {
 public:
  CsvSource(CsvTable table, const DataSpec& spec) : table_(std::move(table)) {
    std::vector<bool> is_output(table_.rows[0].size(), false);
    if (spec.has("label")) {
      label_ = table_.column(spec.text("label"));
      is_output[*label_] = true;
      collect_classes();
      if (spec.has("tokenizer")) take_classes_of_network(spec.text("tokenizer"));
    }
    for (const std::string& name : spec.words("target")) {
      targets_.push_back(table_.column(name));
      is_output[targets_.back()] = true;
    }
    if (!spec.has("metadata")) {
      for (const std::string& name : column_names(spec.words("meta"))) is_output[table_.column(name)] = true;
    }
    const std::vector<std::string> ignored = spec.words("ignore");
    for (const std::string& name : ignored) is_output[table_.column(name)] = true;
    // Of texts nothing else is an input.
    for (std::size_t c = 0; c < is_output.size() && !spec.has("tokenizer"); ++c) {
      if (!is_output[c]) inputs_.push_back(c);
    }
    if (spec.has("tokenizer")) return;
    if (inputs_.empty()) fail(Fault::data, "{}: no column is left for the inputs", spec.path);
  }

  const CsvTable& table() const { return table_; }
  const std::vector<std::size_t>& inputs() const { return inputs_; }

  std::size_t size() const override { return table_.rows.size(); }
  Shape shape() const override { return {static_cast<std::int64_t>(inputs_.size())}; }
  std::optional<std::int64_t> label(std::size_t index) const override {
    if (!label_) return std::nullopt;
    if (numeric_) return std::stoll(table_.rows[index][*label_]);
    if (!numbers_.empty()) return numbers_.at(table_.rows[index][*label_]);
    return static_cast<std::int64_t>(
        std::lower_bound(classes_.begin(), classes_.end(), table_.rows[index][*label_]) - classes_.begin());
  }
  std::vector<std::string> class_names() const override { return classes_; }
  std::vector<float> target(std::size_t index) const override {
    std::vector<float> values;
    for (const std::size_t c : targets_) values.push_back(static_cast<float>(csv_number(table_, index, c)));
    return values;
  }
  std::optional<std::vector<std::string>> column(const std::string& name) const override {
    const std::size_t position = table_.column(name);
    std::vector<std::string> values;
    for (const auto& row : table_.rows) values.push_back(row[position]);
    return values;
  }
  std::vector<std::string> columns() const override { return table_.header; }
  void read(std::size_t index, void* out) const override {
    auto* values = static_cast<float*>(out);
    for (const std::size_t c : inputs_) *values++ = static_cast<float>(csv_number(table_, index, c));
  }
  std::string format() const override {
    const bool ordered = label_ && !numeric_ && numbers_.empty();
    return ordered ? "CSV, labels numbered in alphabetical order" : "CSV";
  }

 private:
  // Integers from 0 are classes as they are; names are numbered in alphabetical order. Numbers that are not
  // class numbers are not names either: they would be numbered anew.
  void collect_classes() {
    double largest = -1;
    std::size_t numbers = 0, commas = 0;
    std::optional<std::size_t> odd;
    for (std::size_t r = 0; r < table_.rows.size(); ++r) {
      const std::string& label = table_.rows[r][*label_];
      if (label.empty())
        fail(Fault::data, "{}: record {} has no label; leave such records out", table_.path, r);
      classes_.push_back(label);
      commas += has_decimal_comma(label);
      double value = 0;
      if (!to_number(label, table_.decimal, value)) continue;
      ++numbers;
      largest = std::max(largest, value);
      if (!odd && !(value >= 0 && value < 1e6 && value == std::floor(value))) odd = r;
    }
    std::sort(classes_.begin(), classes_.end());
    classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
    if (numbers < table_.rows.size() && commas == table_.rows.size())
      fail(Fault::data, "{}: label '{}' of record 0 is a number with a decimal comma; say decimal=,",
           table_.path, table_.rows[0][*label_]);
    if (numbers < table_.rows.size()) return;
    if (odd)
      fail(
          Fault::data,
          "{}: label '{}' of record {} is not a class number; classes are whole numbers from 0 to 999999, or "
          "names (numbers to be predicted are targets)",
          table_.path, table_.rows[*odd][*label_], *odd);
    classes_.clear();
    for (std::int64_t c = 0; c <= static_cast<std::int64_t>(largest); ++c)
      classes_.push_back(std::to_string(c));
    for (auto& row : table_.rows) {
      double value = 0;
      to_number(row[*label_], table_.decimal, value);
      row[*label_] = std::to_string(static_cast<std::int64_t>(value));
    }
    numeric_ = true;
  }

  // The classes as config.json numbers and names them in the folder of a tokenizer, which is that of a
  // network.
  void take_classes_of_network(const std::filesystem::path& folder) {
    const std::optional<TextConfig> config = read_text_config(folder);
    if (!config || config->labels.empty()) return;
    const std::vector<std::string>& labels = config->labels;
    if (numeric_) {
      if (classes_.size() <= labels.size()) classes_ = labels;
      return;
    }
    for (const std::string& name : classes_) {
      const std::optional<std::size_t> found = class_called(name, labels);
      if (!found)
        fail(Fault::data,
             "{}: label '{}' is not a class of the network ({}, by {}); name labels like classes, number "
             "them, or "
             "name the tokenizer's file in place of the folder",
             table_.path, name, support::joined(labels), (folder / "config.json").string());
      numbers_[name] = *found;
    }
    classes_ = labels;
  }

  CsvTable table_;
  std::optional<std::size_t> label_;
  std::vector<std::size_t> targets_, inputs_;
  std::vector<std::string> classes_;
  std::map<std::string, std::int64_t> numbers_;  // of classes, where they are a network's
  bool numeric_ = false;
};

// The texts of the columns of text=A, or of text=A+B.
std::vector<RecordText> texts_of_columns(const CsvTable& table, const std::vector<std::size_t>& columns) {
  std::vector<RecordText> texts;
  for (const auto& row : table.rows)
    texts.push_back({row[columns[0]], columns.size() > 1 ? row[columns[1]] : std::string()});
  return texts;
}

}  // namespace

std::size_t CsvTable::column(const std::string& name) const {
  const auto it = std::find(header.begin(), header.end(), name);
  if (std::count(it, header.end(), name) > 1)
    fail(Fault::data, "{}: {} columns are named '{}'; give them different names, or name one by its number",
         path, std::count(it, header.end(), name), name);
  if (it != header.end()) return it - header.begin();
  double number = 0;
  const std::size_t width = rows[0].size();
  if (to_number(name, '.', number) && number >= 0 && number < width && number == std::floor(number))
    return static_cast<std::size_t>(number);
  fail(Fault::usage, "{}: no column is named '{}'{}; there are {}", path, name, did_you_mean(name, header),
       header.empty() ? fmt::format("columns 0 to {}", width - 1) : support::joined(header));
}

char decimal_of(const DataSpec& spec) {
  const std::string text = spec.text("decimal", ".");
  if (text == "," || text == "comma") return ',';
  if (text == "." || text == "point") return '.';
  fail(Fault::usage, "data option decimal={}: a comma or a point", text);
}

CsvTable read_csv(const std::filesystem::path& path, char decimal) {
  CsvTable table;
  table.path = path.string();
  table.decimal = decimal;
  std::string text = read_maybe_gzipped(path);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  table.separator = separator_of(text, decimal);
  table.rows = parse(text, table.path, table.separator);
  if (table.rows.empty()) fail(Fault::data, "{}: the table is empty", table.path);
  const auto is_number = [&](const std::string& field) {
    double value = 0;
    return to_number(field, decimal, value) || has_decimal_comma(field);
  };
  if (std::none_of(table.rows[0].begin(), table.rows[0].end(), is_number)) {
    table.header = std::move(table.rows[0]);
    table.rows.erase(table.rows.begin());
    if (table.rows.empty()) fail(Fault::data, "{}: the table has column names and no rows", table.path);
  }
  return table;
}

bool is_table_name(std::string_view name) {
  return name.ends_with(".csv") || name.ends_with(".csv.gz") || name.ends_with(".tsv") ||
         name.ends_with(".tsv.gz");
}

double csv_number(const CsvTable& table, std::size_t row, std::size_t column) {
  double value = 0;
  if (!to_number(table.rows[row][column], table.decimal, value)) {
    const std::string name = table.header.empty() ? std::to_string(column) : table.header[column];
    const std::string& field = table.rows[row][column];
    if (field.empty())
      fail(Fault::data, "{}: row {}: column '{}' is empty; fill it in, leave the row out, or say ignore={}",
           table.path, row + 1, name, name);
    if (table.decimal == '.' && (has_decimal_comma(field) || is_split_at_decimal_commas(table, row)))
      fail(Fault::data, "{}: row {}: '{}' in column '{}' is a number with a decimal comma; say decimal=,",
           table.path, row + 1, field, name);
    fail(Fault::data,
         "{}: row {}: '{}' is not a number; if column '{}' holds the class say label={}, if the network "
         "takes texts words=NETWORK, else ignore={}",
         table.path, row + 1, field, name, name, name);
  }
  return value;
}

std::unique_ptr<Source> table_source(CsvTable table, const DataSpec& spec) {
  if (spec.has("tokenizer") && spec.has("words"))
    fail(Fault::usage, "data '{}': either tokenizer= or words= makes numbers of texts; leave one out",
         spec.path);
  if (!spec.has("tokenizer")) {
    for (const char* const option : {"text", "length", "next"}) {
      if (spec.has(option) && !(spec.has("words") && std::string_view(option) == "length"))
        fail(Fault::usage, "data '{}': {}= is about texts; say tokenizer= as well, a tokenizer.json",
             spec.path, option);
    }
    if (spec.has("words")) {
      auto source = std::make_unique<CsvSource>(std::move(table), spec);
      const CsvSource& rows = *source;
      return worded(std::move(source), rows.table(), rows.inputs(), spec);
    }
    return std::make_unique<CsvSource>(std::move(table), spec);
  }
  std::vector<std::size_t> columns;
  for (const std::string& name : spec.words("text")) columns.push_back(table.column(name));
  if (columns.empty() || columns.size() > 2)
    fail(Fault::usage,
         "data '{}': say text=COLUMN, the column of the texts, or text=COLUMN+COLUMN, which are compared",
         spec.path);
  if (spec.has("ignore"))
    fail(Fault::usage,
         "data '{}': with tokenizer= nothing but the texts is an input; leave out ignore=", spec.path);
  const auto texts = texts_of_columns(table, columns);
  return tokenized(std::make_unique<CsvSource>(std::move(table), spec), texts, columns.size() == 2, spec);
}

std::vector<std::string> options_of_tables() {
  std::vector<std::string> all{"ignore", "text", "words"};
  all.insert(all.end(), options_of_tokens.begin(), options_of_tokens.end());
  return all;
}

FormatInfo csv_format() {
  return {
      "csv",
      "tables with label=COLUMN, target=COLUMN[+COLUMN], ignore=COLUMN, meta=COLUMN; all other columns "
      "are inputs; decimal=, where commas are decimal; text=COLUMN and tokenizer=FILE: the inputs are its "
      "tokens; words=NETWORK: texts are numbers of the words that it knows",
      options_of_tables(),
      [](const std::filesystem::path& path, std::string_view) { return is_table_name(path.string()); },
      [](const DataSpec& spec) { return table_source(read_csv(spec.path, decimal_of(spec)), spec); }};
}

}  // namespace assay::inline data
