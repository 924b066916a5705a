#include "assay/results/data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "assay/results/document.h"
#include "assay/results/label_warnings.h"
#include "assay/results/warnings.h"

namespace assay::results {
namespace {

report::Table balance_table(const Dataset& data, const DataSummary& summary) {
  const auto names = data.class_names();
  const auto records = [&](std::size_t c) { return summary.class_records[c]; };
  return table_of("classes", "Classes", positions(names.size()),
                  {{"class", [&](auto c) { return names[c]; }},
                   {"records", records},
                   {"share", Kind::percent, [&](auto c) { return share_of(records(c), data.size()); }}});
}

// A data set has as many classes as its greatest label asks for, whether or not there are records of them.
void add_classes(report::Document& document, const Dataset& data, const DataSummary& summary) {
  const std::size_t all = summary.class_records.size();
  const auto present = all - static_cast<std::size_t>(std::ranges::count(summary.class_records, 0U));
  document.facts.push_back(count_fact("classes_present", "classes that have records", present));
  if (present < all) document.headline += fmt::format("; there are records of {} of them", present);
  if (present == 1 && data.size() > 1)
    document.warnings.push_back({"one-class", "all records are of one class",
                                 "labels of another file, records that were cut while ordered by class, or a "
                                 "label that is not a class"});
}

report::Table target_table(const DataSummary& summary) {
  return table_of("targets", "Targets", positions(summary.target_mean.size()),
                  {{"target", std::identity()},
                   {"low", "least", 4, [&](auto t) { return summary.target_low[t]; }},
                   {"mean", 4, [&](auto t) { return summary.target_mean[t]; }},
                   {"high", "greatest", 4, [&](auto t) { return summary.target_high[t]; }}});
}

}  // namespace

report::Document document_of(const DataSummary& summary, const Dataset& data) {
  report::Document document;
  document.headline = data.describe();
  document.facts = {count_fact("records", "records", data.size()),
                    {"shape", "shape of a record", to_string(data.record_shape())},
                    {"type", "element type", to_string(data.dtype())},
                    {"low", "least element", summary.low, Kind::number, 4},
                    {"high", "greatest element", summary.high, Kind::number, 4},
                    {"mean", "mean", summary.mean, Kind::number, 4},
                    {"deviation", "standard deviation", summary.deviation, Kind::number, 4},
                    count_fact("duplicates", "duplicate records", summary.duplicates),
                    count_fact("conflicting", "of them with another label", summary.conflicting)};
  if (const auto range = data.valid_range())
    document.facts.push_back(
        {"range", "valid range",
         fmt::format("{} to {}", fmt::join(range->low, "/"), fmt::join(range->high, "/"))});
  if (data.has_labels()) {
    add_classes(document, data, summary);
    document.tables.push_back(balance_table(data, summary));
  }
  if (data.target_width() > 0) document.tables.push_back(target_table(summary));
  if (summary.conflicting > 0)
    document.warnings.push_back(
        {"contradicting-labels",
         fmt::format("{} of {} records that repeat an earlier one have another label", summary.conflicting,
                     summary.duplicates),
         "mislabelled records, or a record of two classes; no network classifies both correctly"});
  add_warnings(document, text_label_warnings(data));
  for (const auto& [record, earlier] : summary.examples)
    document.notices.push_back(fmt::format("record '{}' repeats '{}'", data.id(record), data.id(earlier)));
  add_provenance(document, "data", data);
  return document;
}

report::Fact relabelled_fact(const std::vector<std::size_t>& records, const std::string& other) {
  return count_fact("labelled_otherwise", "labelled differently in " + other, records.size());
}

}  // namespace assay::results
