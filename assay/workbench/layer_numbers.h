#pragma once

#include "assay/workbench/database.h"
#include "assay/workbench/query/sql_text.h"

namespace assay::workbench {

// `layer` is a layer's name, and `layer_index` its number. A comparison of `layer` with an integer that
// stands in the query means the number: U.layer = 0 becomes U.layer_index = 0, for relations that have both.
void number_layers(Database& database, SqlText& sql);

}  // namespace assay::workbench
