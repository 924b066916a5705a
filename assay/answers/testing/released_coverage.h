#pragma once

// Coverage as the released code of DeepImportance computes it (docs/deepimportance-released.md).

#include <assay/progress.h>
#include <assay/report.h>
#include "assay/answers/setting.h"
#include "assay/answers/testing/coverage.h"

namespace assay::answers {

// Of the question: training records, numbers of neurons, at most one layer, declared accuracy and conditions.
// Throws Error{usage} for several processes and where these are missing.
report::Document released_coverage(const Session& session, const DatasetPtr& test,
                                   const CoverageQuestion& question, const Setting& setting,
                                   Progress& progress);

}  // namespace assay::answers
