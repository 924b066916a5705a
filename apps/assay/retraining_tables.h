#pragma once

// What retraining did, as tables and figures for gates.

#include <vector>

#include "assay/report/document.h"
#include "assay/report/gate.h"
#include "assay/retraining/retraining.h"

namespace assay::app {

// Mean, deviation and interval per evaluation set and condition, and the score before.
Table retraining_table(const RetrainingPlan& plan, const Retraining& retraining, const std::vector<ConditionScore>& scores);
// Paired differences to the control and to the reference; accuracies in percentage points.
Table difference_table(const Retraining& retraining, const std::vector<ConditionScore>& scores, const std::string& control, const std::string& reference);
// Every run.
Table run_table(const RetrainingPlan& plan, const Retraining& retraining);
// retrained[condition=NAME,set=NAME]: the mean over the repeats.
std::vector<Measurement> measurements_of(const Retraining& retraining, const std::vector<ConditionScore>& scores);

}  // namespace assay::app
