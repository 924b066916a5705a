#pragma once

// Reasons to doubt figures, found from data that an analysis has anyway, each with its likely cause
// (docs/warnings.md).

#include <vector>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/relevance.h>
#include <assay/report.h>
#include <assay/session.h>
#include "assay/coverage/possible.h"

namespace assay::results {

// Of a network and data with labels: more classes than outputs, class folders that do not cover the classes.
std::vector<report::Warning> class_warnings(const Session& session, const Dataset& data);

// Of a network whose records change each other's results, found from the first records, or from sample
// records without data (null).
std::vector<report::Warning> influence_warnings(const Session& session, const Dataset* data);

// An accuracy that guessing reaches as well. `classes`: that the network tells apart.
std::vector<report::Warning> accuracy_warnings(double accuracy, std::size_t classes);

// Of a coverage state: collapsed networks, more combinations than records can reach, a limit on m that was
// reached, records left out.
std::vector<report::Warning> coverage_warnings(const coverage::CoverageState& state);

// Criteria of a preset that are not measured.
std::vector<report::Warning> left_out_warnings(const coverage::PossibleCriteria& criteria);

// Of a test set and the training set that the profile was learned from: the same records, another scale.
std::vector<report::Warning> data_warnings(const coverage::Profile& profile,
                                           const coverage::Observations& seen, const Dataset& test);

// Relevance that is zero, or does not arrive.
std::vector<report::Warning> importance_warnings(const relevance::Importance& importance);

// Records with a NaN or an infinity: what they count for, and that they cover and count for nothing.
report::Warning non_finite_records(const Evaluation& evaluation);
report::Warning non_finite_records(std::size_t count, std::size_t records,
                                   const std::vector<std::string>& ids, const std::string& effect);
report::Warning dropped_records(std::size_t count, const std::string& which,
                                const std::vector<std::string>& ids = {});

// Classes of the profile whose traces a Gaussian cannot be fitted to, for surprise criteria of the state.
std::vector<report::Warning> singular_warnings(const coverage::CoverageState& state);

void add(std::vector<report::Warning>& warnings, std::vector<report::Warning> more);
void add_warnings(report::Document& document, std::vector<report::Warning> warnings);

}  // namespace assay::results
