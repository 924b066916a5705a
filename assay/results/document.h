#pragma once

// Common parts of all result documents.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/dataset.h>
#include <assay/graph.h>
#include <assay/report.h>
#include <assay/results.h>

namespace assay::results {

using Kind = report::Column::Kind;

// Appends `more` to `document`; the headline is that of `more` if it has one.
void append(report::Document& document, report::Document more);

report::Fact count_fact(std::string id, std::string title, std::uint64_t count);

// Nothing as an empty cell.
report::Cell optional_cell(const std::optional<double>& value);
report::Cell text_cell(const std::string& text);

// A class by name where it has one, else by number.
std::string class_name(const std::vector<std::string>& names, std::int64_t number);

}  // namespace assay::results
