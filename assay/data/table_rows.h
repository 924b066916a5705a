#pragma once

// Rows of a table that belong to records, by id, file name or stem.

#include <string>

#include "assay/data/files/csv.h"
#include "assay/data/name_index.h"

namespace assay::inline data {

class TableRows {
 public:
  // Records are named in the column `id`, or without one in the first. `data` stands in messages. The table
  // must outlive this. Throws Error{data} for two rows of one name.
  TableRows(const CsvTable& table, const std::string& id, std::string data);
  // Throws Error{data} for a record without a row.
  std::size_t of(const std::string& record) const;

 private:
  const CsvTable& table_;
  std::string data_;
  NameIndex rows_;
};

}  // namespace assay::inline data
