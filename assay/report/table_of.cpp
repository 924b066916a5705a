#include "assay/report/table_of.h"

#include <cmath>

namespace assay::report {

std::optional<std::string> unless_empty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<double> if_finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Table empty_table(std::string id, std::string title, const std::vector<DeclaredColumn>& columns) {
  Table table{std::move(id), std::move(title), {}, {}};
  for (const DeclaredColumn& one : columns)
    if (one.present) table.columns.push_back(one.column);
  return table;
}

void add_row(Table& table, const std::vector<DeclaredColumn>& columns, const void* row) {
  std::vector<Cell>& cells = table.rows.emplace_back();
  cells.reserve(table.columns.size());
  for (const DeclaredColumn& one : columns)
    if (one.present) cells.push_back(one.cell(row));
}

}  // namespace assay::report
