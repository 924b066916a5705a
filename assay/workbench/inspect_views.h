#pragma once

// Views over INSPECT queries. SQLite cannot keep these: it does not know the clause. The workbench keeps
// their text, and puts it where they are named.

#include "assay/workbench/database.h"
#include "assay/workbench/query/sql_text.h"

namespace assay::workbench {

// CREATE VIEW ... AS over INSPECT, and DROP VIEW of such a view; true where the statement was one of these.
// Throws Error{usage} as SQLite would.
bool change_views(Database& database, const SqlText& sql);

// Replaces such views' names by queries. Throws Error{usage} for a view that names itself.
void expand_views(Database& database, SqlText& sql);

}  // namespace assay::workbench
