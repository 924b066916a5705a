#pragma once

// Suspicious training records as tables and files.

#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/report/document.h"
#include "assay/similarity/suspects.h"

namespace assay::app {

// The first `rows` of the ranking.
Table suspect_table(const Dataset& training, const Dataset& findings, const Suspicion& suspicion, const std::vector<std::size_t>& order, std::size_t rows);

// How many polluted records are found among the first so many suspects. `polluted`: in the order of the ranking; `all`: how many
// there are, also among records that are not suspected.
Table inspection_table(const std::vector<bool>& polluted, std::size_t all);

// The whole ranking: rank,id,label,similarity,mean,votes,finding.
std::string suspects_as_csv(const Dataset& training, const Dataset& findings, const Suspicion& suspicion, const std::vector<std::size_t>& order);

}  // namespace assay::app
