#pragma once

// How far explanations of a network's decisions can be believed.

#include <assay/faithfulness.h>
#include <assay/report.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/setting.h"
#include "assay/report/conditions.h"

namespace assay::answers {

struct FaithfulnessQuestion {
  relevance::FaithfulnessOptions options = {};
  DeclaredAccuracy accuracy = {};
  report::Conditions conditions = {};
};

report::Document faithfulness(const Session& session, const DatasetPtr& data,
                              const FaithfulnessQuestion& question, const Setting& setting,
                              Progress& progress);

}  // namespace assay::answers
