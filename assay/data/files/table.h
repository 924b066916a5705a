#pragma once

// Records of tables, whichever format they have.

#include <memory>
#include <string>
#include <vector>

#include <assay/extend/data_format.h>
#include "assay/data/files/csv.h"

namespace assay::inline data {

// label=, target=, ignore=, and text= with tokenizer= name columns. Throws Error{usage} and Error{data}.
std::unique_ptr<Source> table_source(CsvTable table, const DataSpec& spec);

// The options of the spec that are about tables.
std::vector<std::string> options_of_tables();

}  // namespace assay::inline data
