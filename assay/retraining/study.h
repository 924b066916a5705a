#pragma once

// A study of retraining, from its options to the plan: additions that are given, that raise coverage and that
// attacks make, a control, and the evaluation sets.

#include <optional>
#include <string>
#include <vector>

#include <assay/coverage.h>
#include <assay/retraining.h>
#include "assay/retraining/additions.h"
#include "assay/retraining/raising.h"

namespace assay::retraining {

inline constexpr const char* control_condition = "none";

struct Study {
  DatasetPtr test;
  GivenAdditions given;
  std::optional<Spec> raising;             // criterion: as one more kind, additions that raise its coverage
  std::vector<std::string> layers;         // subject layers of that criterion
  std::string method = "epsilon";          // attribution by which it ranks neurons
  std::vector<Spec> against, evaluate_on;  // attacks that make additions, and records to judge by
  MadeOptions made;
};

// The study before anything is trained.
struct Preparation {
  RetrainingPlan plan;
  std::optional<Raising> raising;
  std::vector<MadeRecords> additions, evaluation_sets;
  std::string reference;             // condition that stands for random additions; empty: none
  std::vector<std::string> notices;  // what was left out, and where fewer records are added than asked
};

// Completes the plan, which has training data, recipe, numbers and places, by conditions and sets. Throws
// what making them throws, and Error{data} where no record raises coverage.
Preparation prepare(const Session& session, const Study& study, RetrainingPlan plan, Progress& progress);

}  // namespace assay::retraining
