#pragma once

// What an inspection found, as a result document.

#include <cstddef>
#include <string>

#include <assay/inspection.h>
#include <assay/report.h>

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

// One row for each score, all of them.
report::Table scores_table(const inspection::Inspection& inspection);

}  // namespace assay::results
