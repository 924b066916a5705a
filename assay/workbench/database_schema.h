#pragma once

#include "assay/workbench/database.h"

namespace assay::workbench {

// Throws Error{data} where the database holds what no user could have made here: virtual tables, triggers,
// and tables or indices whose expressions use what queries may not. SQLite reads a schema without asking
// about those. Views are judged where they are asked.
void judge_schema(Database& database);

}  // namespace assay::workbench
