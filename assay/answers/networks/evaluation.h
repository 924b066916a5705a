#pragma once

// Evaluation of a network on data.

#include <optional>
#include <string>

#include <assay/report.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/setting.h"
#include "assay/report/conditions.h"

namespace assay::answers {

struct EvaluationQuestion {
  std::string task = {};     // spec of a task; empty: the one that network and data have
  std::size_t pictures = 0;  // of tasks with items in pictures: of so many records with most wrong items, ...
  std::string folder = {};   // ... in this folder
  std::string predictions = {};  // file for what the network says of each record; empty: none
  DeclaredAccuracy accuracy = {};
  report::Conditions conditions = {};
  std::optional<std::size_t> pairs = {};  // of characteristics in the document (results::PairLimit)
};

// Only the first rank returns.
report::Document evaluate(const Session& session, const DatasetPtr& data, const EvaluationQuestion& question,
                          const Setting& setting, Progress& progress);

}  // namespace assay::answers
