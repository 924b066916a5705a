#include "assay/data/labels.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include <assay/error.h>
#include "assay/data/boxes.h"
#include "assay/data/bytes.h"
#include "assay/data/files/csv.h"
#include "assay/data/masks.h"
#include "assay/data/metadata.h"
#include "assay/data/relabel.h"
#include "assay/data/table_rows.h"
#include "assay/data/texts.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/so_many.h"

namespace assay::inline data {
namespace {

// The column of a table that has labels: the one that is named, or the last.
std::size_t label_column(const DataSpec& spec, const CsvTable& table) {
  return spec.has("label") ? table.column(spec.text("label")) : table.rows.at(0).size() - 1;
}

std::vector<std::int64_t> labels_of_table(const DataSpec& spec, const std::string& file,
                                          const Source& source) {
  const CsvTable table = read_csv(file, decimal_of(spec));
  const TableRows rows(table, spec.text("id"), spec.path);
  const std::size_t column = label_column(spec, table);
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const double value = csv_number(table, rows.of(source.id(i)), column);
    if (value != std::floor(value) || std::fabs(value) > 1e6)
      fail(Fault::data, "{}: the label {} of record '{}' is not a class number", file, value, source.id(i));
    labels.push_back(static_cast<std::int64_t>(value));
  }
  return labels;
}

std::vector<std::int64_t> labels_of_source(const Source& source) {
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto label = source.label(i);
    if (!label) break;
    labels.push_back(*label);
  }
  return labels;
}

// Classes without a name are called by their number.
void name_classes(ClassLabels& classes, const std::string& text, const Source& source) {
  std::int64_t greatest = -1;
  for (std::size_t i = 0; i < classes.labels.size(); ++i) {
    const std::int64_t label = classes.labels[i];
    if (label < 0 || label > 1'000'000)
      fail(Fault::data,
           "data '{}': record '{}' has label {}, which is not a class number; classes are numbered from 0",
           text, source.id(i), label);
    greatest = std::max(greatest, label);
  }
  if (classes.labels.empty()) classes.class_names.clear();
  for (std::int64_t c = classes.class_names.size(); c <= greatest; ++c)
    classes.class_names.push_back(std::to_string(c));
}

std::vector<std::string> ids_of(const Source& source) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < source.size(); ++i) ids.push_back(source.id(i));
  return ids;
}

void require_pictures(const std::string& text, const std::string& option, const Shape& record_shape) {
  if (record_shape.size() != 3)
    fail(Fault::usage, "data '{}': {}= are of pictures, and records are {}", text, option,
         to_string(record_shape));
}

// One number for each pixel of a record's picture.
Targets masks_of(const DataSpec& spec, const std::string& text, const Source& source, const Shape& shape) {
  require_pictures(text, "masks", shape);
  const MaskSize size{.height = static_cast<int>(shape[1]),
                      .width = static_cast<int>(shape[2]),
                      .resize = spec.has("resize")};
  return {.width = static_cast<std::size_t>(shape[1] * shape[2]),
          .of = [&source, size, masks = std::make_shared<const MaskFolder>(spec.text("masks"))](
                    std::size_t record) { return mask_of(*masks, source.id(record), size); }};
}

// Rows of class and corners, as many a record as the one with most has.
Targets boxes_of(const DataSpec& spec, const std::string& text, const Source& source, const Shape& shape) {
  require_pictures(text, "boxes", shape);
  const auto boxes = std::make_shared<const BoxLabels>(
      read_boxes(spec.text("boxes"), ids_of(source), spec.text("categories")));
  std::size_t rows = 1;
  for (const PictureBoxes& record : boxes->records) rows = std::max(rows, record.boxes.size());
  constexpr std::size_t most = 10'000;
  if (rows > most)
    fail(Fault::resources, "{}: a record has {} boxes, and at most {} are read", spec.text("boxes"), rows,
         most);
  const RecordSize size{.width = static_cast<double>(shape[2]),
                        .height = static_cast<double>(shape[1]),
                        .resized = spec.has("resize")};
  return {.width = 5 * rows,
          .of =
              [&source, boxes, size, rows](std::size_t record) {
                return box_rows(boxes->records[record], size, rows, source.id(record));
              },
          .items_text = fmt::format("up to {} of {}", so_many(rows, "box", "boxes"),
                                    so_many(boxes->class_names.size(), "class", "classes")),
          .class_names = boxes->class_names};
}

std::vector<std::vector<char32_t>> texts_of_table(const DataSpec& spec, const std::string& file,
                                                  const Source& source) {
  const CsvTable table = read_csv(file, decimal_of(spec));
  const TableRows rows(table, spec.text("id"), spec.path);
  const std::size_t column = label_column(spec, table);
  std::vector<std::vector<char32_t>> texts;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string id = source.id(i);
    texts.push_back(
        text_characters(table.rows[rows.of(id)][column], fmt::format("{}: record '{}'", file, id)));
  }
  return texts;
}

// Numbers of characters, as many a record as the longest text has.
Targets texts_of(const DataSpec& spec, const std::string&, const Source& source, const Shape&) {
  const std::string file = spec.text("texts");
  const auto texts = std::make_shared<const std::vector<std::vector<char32_t>>>(
      is_table_name(file) ? texts_of_table(spec, file, source) : read_texts(file, ids_of(source)));
  std::size_t width = 1;
  for (const auto& text : *texts) width = std::max(width, text.size());
  return {.width = width,
          .of = [texts, width](std::size_t record) { return text_row((*texts)[record], width); },
          .items_text = fmt::format("texts of up to {} characters", width)};
}

// Throws where `option`, of labels of items, is not the only labels there are.
void require_alone(const DataSpec& spec, const std::string& text, const std::string& option) {
  for (const char* const other : {"targets", "labels", "masks", "boxes", "texts"}) {
    if (other != option && spec.has(other))
      fail(Fault::usage, "data '{}': {}= are the labels; leave out {}=", text, option, other);
  }
}

Targets targets_of_table(const DataSpec& spec, const Source& source) {
  const CsvTable table = read_csv(spec.text("targets"), decimal_of(spec));
  const TableRows rows(table, spec.text("id"), spec.path);
  std::vector<std::size_t> columns;
  for (const std::string& name : spec.words("target")) columns.push_back(table.column(name));
  if (columns.empty()) columns.push_back(table.rows.at(0).size() - 1);
  const auto targets = std::make_shared<std::vector<float>>();
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t row = rows.of(source.id(i));
    for (const std::size_t column : columns)
      targets->push_back(static_cast<float>(csv_number(table, row, column)));
  }
  const std::size_t width = columns.size();
  return {.width = width, .of = [targets, width](std::size_t record) {
            const auto first = targets->begin() + record * width;
            return std::vector<float>(first, first + width);
          }};
}

// With a check of each record, as it is read.
Targets finite(Targets targets, const std::string& text, const Source& source) {
  targets.of = [of = std::move(targets.of), text, &source](std::size_t record) {
    std::vector<float> values = of(record);
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
      fail(Fault::data,
           "data '{}': the target of record '{}' is not finite; give a number, of what is not known or does "
           "not count one that the task leaves out (missing=, ignore=)",
           text, source.id(record));
    return values;
  };
  return targets;
}

// Whether it is written as a number, finite or not.
bool is_number_text(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

}  // namespace

ClassLabels classes_of_texts(const std::vector<std::string>& texts, const std::string& what) {
  constexpr double too_great = 1e6;
  ClassLabels found;
  const bool numbers = std::ranges::all_of(texts, is_number_text);
  for (const std::string& text : texts) {
    if (!numbers) break;  // names
    const auto number = number_of<double>(text);
    if (!number || *number < 0 || *number >= too_great || *number != std::floor(*number))
      fail(Fault::data, "{} '{}' is not a class number; classes are whole numbers from 0 to 999999, or names",
           what, text);
    found.labels.push_back(static_cast<std::int64_t>(*number));
  }
  if (found.labels.size() == texts.size()) return found;
  const std::set<std::string> names(texts.begin(), texts.end());
  found = {.labels = {}, .class_names = {names.begin(), names.end()}};
  for (const std::string& text : texts)
    found.labels.push_back(std::ranges::lower_bound(found.class_names, text) - found.class_names.begin());
  return found;
}

ClassLabels class_labels_of(const DataSpec& spec, const std::string& text, const Source& source) {
  ClassLabels classes{.labels = {}, .class_names = source.class_names()};
  const std::string file = spec.text("labels");
  if (is_table_name(file)) {
    classes = {.labels = labels_of_table(spec, file, source), .class_names = {}};
  } else if (!file.empty() && !source.takes_labels()) {
    fail(Fault::usage, "data '{}': labels={} is not a table (.csv or .tsv), and {} knows no other", text,
         file, source.format());
  } else if (!spec.has("targets") && !spec.has("masks") && !spec.has("boxes") && !spec.has("texts")) {
    classes.labels = labels_of_source(source);
  }
  name_classes(classes, text, source);
  if (!spec.has("relabel")) return classes;
  if (classes.labels.empty()) fail(Fault::usage, "data '{}': relabel= needs labels", text);
  relabel(classes.labels, classes.class_names, spec.words("relabel"), spec.integer("seed", 1));
  return classes;
}

Targets targets_of(const DataSpec& spec, const std::string& text, const Source& source,
                   const Shape& record_shape) {
  for (const auto& [option, find] :
       {std::pair("boxes", &boxes_of), std::pair("masks", &masks_of), std::pair("texts", &texts_of)}) {
    if (!spec.has(option)) continue;
    require_alone(spec, text, option);
    return find(spec, text, source, record_shape);
  }
  if (spec.has("targets")) return finite(targets_of_table(spec, source), text, source);
  if (source.size() == 0) return {};
  return finite({.width = source.target(0).size(),
                 .of = [&source](std::size_t record) { return source.target(record); }},
                text, source);
}

}  // namespace assay::inline data
