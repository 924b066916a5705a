#pragma once

// Coverage as the released code of DeepImportance computes it, as result documents.

#include <span>
#include <string>
#include <vector>

#include <assay/gate.h>
#include <assay/report.h>
#include "assay/coverage/released.h"

namespace assay::results {

// `subject`: network and data. The headline says that this is not the published definition.
report::Document document_of(const coverage::ReleasedCoverages& found, const std::vector<std::size_t>& ms,
                             const std::string& subject, const std::vector<std::string>& class_names);
// The means over classes, by the names that there are before anything is measured.
std::vector<report::Measurement> measurements_of(const coverage::ReleasedCoverages& found,
                                                 const std::vector<std::size_t>& ms);

}  // namespace assay::results
