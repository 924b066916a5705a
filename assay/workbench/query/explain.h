#pragma once

#include "assay/workbench/inspector.h"

namespace assay::workbench {

// EXPLAIN INSPECT: what would be extracted and compared, what is already known, and the cost. Nothing is run.
// `title`: of the query, where there are several.
void explain(Database& database, const OpenWorld& world, const Plan& plan, const std::string& title,
             report::Document& document);

}  // namespace assay::workbench
