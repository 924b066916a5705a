#pragma once

// Orders of the records, and how early they find faults.

#include <string>
#include <vector>

#include <assay/audit.h>

namespace assay::audit {

// By additional coverage for criteria with items, by score for the others; each compared with random orders.
// `faults` that nothing reveals are left out.
std::vector<OrderScore> score_orders(const Pool& pool, const AuditOptions& options, Progress& progress);

}  // namespace assay::audit
