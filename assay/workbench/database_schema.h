#pragma once

#include "assay/workbench/database.h"

namespace assay::workbench {

// Throws Error{data} if the database holds objects that users cannot create here: virtual tables, triggers,
// and tables or indices whose expressions use what queries may not. SQLite reads a schema without asking
// about those. Views are checked when they are queried.
void judge_schema(Database& database);

}  // namespace assay::workbench
