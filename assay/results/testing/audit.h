#pragma once

// Audits of criteria as result documents.

#include <span>
#include <string>
#include <vector>

#include <assay/audit.h>
#include <assay/report.h>
#include "assay/results/groups.h"

namespace assay::results {

// The verdict on each criterion in words, with its correlation by kind of faults, then the parts of each.
// `subject` begins the headline: "lenet5 on digits".
report::Document document_of(const audit::Audit& audit, const audit::Pool& pool, const std::string& subject);

// What the records of each group cover by each criterion whose items are known, and reveal of each kind of
// faults.
std::vector<FigureByGroup> by_group(const audit::Pool& pool, std::span<const groups::Group> groups);

}  // namespace assay::results
