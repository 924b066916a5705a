#pragma once

// Audits of criteria as result documents.

#include <string>

#include <assay/audit.h>
#include <assay/report.h>

namespace assay::results {

// The verdict on each criterion in words, with its correlation by kind of faults, then the parts of each.
// `subject` begins the headline: "lenet5 on digits".
report::Document document_of(const audit::Audit& audit, const audit::Pool& pool, const std::string& subject);

}  // namespace assay::results
