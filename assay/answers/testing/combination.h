#pragma once

// States of several runs as one: of coverage, of mutants or of inspections.

#include <string>
#include <vector>

#include <assay/mutation.h>
#include <assay/progress.h>
#include <assay/report.h>
#include "assay/report/conditions.h"

namespace assay::answers {

struct CombinationQuestion {
  std::vector<std::string> files = {};  // of one kind
  bool skip_unreadable = false;         // they are named, and the others combined
  std::string out = {};                 // where the combined state goes; empty: nowhere
  mutation::ScoreOptions score = {};    // of mutants
  report::Conditions conditions = {};
};

// Whether there are states among the files, but none of mutants.
bool are_of_others(const std::vector<std::string>& files);

report::Document combine(const CombinationQuestion& question, Progress& progress);

}  // namespace assay::answers
