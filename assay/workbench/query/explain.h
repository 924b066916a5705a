#pragma once

#include "assay/workbench/inspector.h"

namespace assay::workbench {

// EXPLAIN INSPECT: what would be extracted and compared, what is known already, and what it costs. Nothing is
// run. `title`: of the query, where there are several.
void explain(Database& database, const OpenWorld& world, const Plan& plan, const std::string& title,
             report::Document& document);

}  // namespace assay::workbench
