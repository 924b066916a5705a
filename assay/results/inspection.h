#pragma once

// What an inspection found, as a result document.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <assay/inspection.h>
#include <assay/report.h>
#include "assay/inspection/close_up.h"
#include "assay/inspection/verify.h"

namespace assay::results {

struct InspectionDetail {
  std::size_t top = 3;         // best units of each group, hypothesis and measure that tables list
  std::size_t most = 100'000;  // rows of the table of all scores; beyond, only the best units are in it
};

// How strong a score is: its distance from no affinity, where values on either side of that are affinity.
double strength(const inspection::ScoreRow& row);

// The best units of each hypothesis, scores of whole groups, how rows came about, and all scores.
report::Document document_of(const inspection::Inspection& inspection, const std::string& subject,
                             const inspection::InspectOptions& options, const InspectionDetail& detail);

// The strongest affinities of the first measure, one for each hypothesis, and the `units` units that are best
// at each.
std::vector<inspection::Claim> strongest_claims(const inspection::Inspection& inspection,
                                                const std::vector<inspection::InspectedModel>& models,
                                                const std::vector<inspection::UnitGroup>& groups,
                                                std::size_t count, std::size_t units);

// What perturbation said of them.
report::Document document_of(std::span<const inspection::Verification> verified,
                             const std::vector<inspection::UnitGroup>& groups);

// Units along single records: text symbol by symbol, pictures with what the unit sees in red.
report::Table close_up_table(std::span<const inspection::CloseUp> close_ups, const Dataset& data);

// From the document of an inspection: of each layer, the `top` units that are best at a hypothesis by a
// measure (empty: the first). Throws Error{usage} for a hypothesis or measure that is not in it.
std::map<std::string, std::vector<std::size_t>> best_units_of(const report::Document& document,
                                                              const std::string& hypothesis,
                                                              const std::string& measure, std::size_t top);

// One row for each score, all of them.
report::Table scores_table(const inspection::Inspection& inspection);

}  // namespace assay::results
