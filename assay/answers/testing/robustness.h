#pragma once

// How a network stands up to growing attacks and corruptions: drop curves, one for each that is requested.

#include <string>
#include <vector>

#include <assay/report.h>
#include <assay/robustness.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/setting.h"
#include "assay/report/conditions.h"

namespace assay::answers {

struct RobustnessQuestion {
  std::string task = {};                // spec of a task; empty: the one that network and data have
  std::vector<std::string> along = {};  // as attack::parse_along() reads them, one at least
  attack::CurveOptions options = {};
  DeclaredAccuracy accuracy = {};
  report::Conditions conditions = {};
};

// Only the first rank returns.
report::Document robustness(const Session& session, const DatasetPtr& data,
                            const RobustnessQuestion& question, const Setting& setting, Progress& progress);

}  // namespace assay::answers
