#pragma once

// Answers queries: SQL with INSPECT, over a database and what is open next to it.

#include <string>

#include "assay/workbench/inspector.h"

namespace assay::workbench {

// One or more statements, each a separate transaction. A table of the document for each that has rows. Throws
// Error{usage} with line and column for what cannot be read or does not exist.
report::Document answer(Database& database, const OpenWorld& world, const std::string& sql,
                        Progress& progress);

}  // namespace assay::workbench
