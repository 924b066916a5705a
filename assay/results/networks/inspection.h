#pragma once

// Inspections as result documents.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <assay/inspection.h>
#include <assay/report.h>
#include "assay/inspection/units/close_up.h"
#include "assay/inspection/units/specialise.h"
#include "assay/inspection/verify.h"

namespace assay::results {

struct InspectionDetail {
  std::size_t top = 3;         // best units of each group, hypothesis and measure that tables list
  std::size_t most = 100'000;  // rows of the table of all scores; beyond, only the best units are in it
};

// Strength of a score: its distance from no affinity, if values on either side of that are affinity.
double strength(const inspection::ScoreRow& row);

// The best units of each hypothesis, scores of whole groups, how rows were formed, and all scores.
report::Document document_of(const inspection::Inspection& inspection, const std::string& subject,
                             const inspection::InspectOptions& options, const InspectionDetail& detail);

// The strongest affinities of the first measure, one for each hypothesis, and the `units` units that are best
// at each.
std::vector<inspection::Claim> strongest_claims(const inspection::Inspection& inspection,
                                                const std::vector<inspection::InspectedModel>& models,
                                                const std::vector<inspection::UnitGroup>& groups,
                                                std::size_t count, std::size_t units);

// Results of perturbing them.
report::Document document_of(std::span<const inspection::Verification> verified,
                             const std::vector<inspection::UnitGroup>& groups);

// Units along single records: text symbol by symbol, pictures with what the unit sees in red.
report::Table close_up_table(std::span<const inspection::CloseUp> close_ups, const Dataset& data);

// Units that a result document names.
struct NamedUnit {
  std::string model, layer;  // the layer as in uids: lstm, lstm/forget; the network may be empty
  std::size_t unit = 0;
  auto operator<=>(const NamedUnit&) const = default;
};
struct UnitQuestion {
  std::string hypothesis, measure;  // of the result of an inspection; the measure may be empty: the first
  std::size_t top = 10;             // units of each group that are best
  std::string model = {};           // those of this network only; empty: of the only one
};
// Of the result of an inspection: the best units of each layer at a hypothesis. Of the answer to a query: all
// in its columns `uid`. Ascending, each once. Throws Error{usage} for a hypothesis, measure or network that
// is not in it, and for units of several networks of which none was chosen.
std::vector<NamedUnit> units_of(const report::Document& document, const UnitQuestion& question);

// Units that were trained to follow a hypothesis.
report::Table specialised_table(std::span<const inspection::Specialisation> wanted);

// One row for each score, all of them.
report::Table scores_table(const inspection::Inspection& inspection);

}  // namespace assay::results
