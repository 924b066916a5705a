#include "assay/data/table_rows.h"

#include <fmt/format.h>

#include <assay/error.h>

namespace assay::inline data {

TableRows::TableRows(const CsvTable& table, const std::string& id, std::string data)
    : table_(table), data_(std::move(data)) {
  const std::size_t column = id.empty() ? 0 : table.column(id);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const std::string& name = table.rows[r][column];
    if (!rows_.add(name, r))
      fail(Fault::data, "{}: two rows for '{}'; rows are named by {}", table.path, name,
           id.empty() ? "the first column; say id=COLUMN where another one names records"
                      : fmt::format("column '{}'", id));
  }
}

std::size_t TableRows::of(const std::string& record) const {
  const auto row = rows_.find(record);
  if (!row) fail(Fault::data, "{}: no row for record '{}' of {}", table_.path, record, data_);
  return *row;
}

}  // namespace assay::inline data
