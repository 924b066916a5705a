#pragma once

// Whether retraining helped, as a result document.

#include <string>
#include <vector>

#include <assay/gate.h>
#include <assay/report.h>
#include <assay/retraining.h>
#include "assay/retraining/additions.h"
#include "assay/retraining/raising.h"

namespace assay::results {

// Scores by evaluation set and condition with intervals, differences to the conditions `control` and
// `reference` (in percentage points for accuracies), and every run. `scores`: of compare().
report::Document document_of(const retraining::RetrainingPlan& plan, const retraining::Retraining& retraining,
                             const std::vector<retraining::ConditionScore>& scores,
                             const std::string& control, const std::string& reference);

// retrained[condition=NAME,set=NAME], for gates: the mean over the repeats.
std::vector<report::Measurement> measurements_of(const retraining::Retraining& retraining,
                                                 const std::vector<retraining::ConditionScore>& scores);

// What additions that raise coverage add to it.
report::Document document_of(const retraining::Raising& raising, const Spec& criterion);

// What records made by an attack are: additions, or records to judge by.
report::Definition definition_of(const retraining::MadeRecords& made, bool additions);

}  // namespace assay::results
