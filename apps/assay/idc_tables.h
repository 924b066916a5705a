#pragma once

// Importance-driven coverage as tables, for the subcommands that measure it.

#include "assay/coverage/measure.h"
#include "assay/coverage/profile.h"
#include "assay/report/document.h"

namespace assay::app {

Table coverage_table(const std::vector<IdcResult>& results);
Table cluster_table(const Profile& profile);
// The uncovered combinations nearest to the data, a few per result.
Table uncovered_table(const std::vector<IdcResult>& results, const Dataset& test, std::size_t count);
// The combinations most records fall into.
Table combination_table(const std::vector<IdcResult>& results, const Dataset& test, std::size_t count);
std::vector<Definition> idc_definitions(const Profile& profile);

}  // namespace assay::app
