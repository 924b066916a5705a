#pragma once

// Suspicious training records, as a result document and pictures.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/report.h>
#include "assay/similarity/suspects.h"

namespace assay::results {

// The first `rows` of the ranking `order` (of similarity::rank()). REQUIRES a record and a finding.
report::Document document_of(const similarity::Suspicion& suspicion, const std::vector<std::size_t>& order,
                             const Dataset& training, const Dataset& findings,
                             const similarity::SuspectOptions& options, std::size_t rows);

// How many of the records that are known to be polluted, `truth` by id and not empty, are found among the
// first `inspect` suspects (0: as many as are polluted), and among more and fewer.
void add_truth(report::Document& document, const Dataset& training, const std::vector<std::size_t>& order,
               const std::set<std::string>& truth, std::size_t inspect);

// Up to `count` suspects next to the findings that they resemble, as before, after, difference; none where
// records are not pictures.
std::vector<report::Picture> draw_suspects(const similarity::Suspicion& suspicion,
                                           const std::vector<std::size_t>& order, const Dataset& training,
                                           const Dataset& findings, std::size_t count,
                                           const std::filesystem::path& folder);

}  // namespace assay::results
