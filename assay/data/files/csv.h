#pragma once

// Comma-separated tables, with quoted fields ("" inside quotes is a quote). Semicolons and tabs are
// recognised too.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::inline data {

struct DataSpec;

struct CsvTable {
  std::vector<std::string> header;             // empty when the first row is data
  std::vector<std::vector<std::string>> rows;  // all of equal width, at least one
  std::string path;
  char separator = ',', decimal = '.';

  // Position of a column by its header or number. Throws Error{usage} with the names there are.
  std::size_t column(const std::string& name) const;
};

// The decimal mark of decimal=: a point, unless it is a comma. Throws Error{usage}.
char decimal_of(const DataSpec& spec);

// Throws Error{data} for a table without rows, naming the line of a ragged row or an open quote. The first
// row is a header when none of its fields is a number. Where commas are decimal, fields lie between
// semicolons or tabs.
CsvTable read_csv(const std::filesystem::path& path, char decimal = '.');

// Whether the name ends as tables do: .csv or .tsv, gzipped or not.
bool is_table_name(std::string_view name);

// The number in a cell. Throws Error{data} naming file and row.
double csv_number(const CsvTable& table, std::size_t row, std::size_t column);

}  // namespace assay::inline data
