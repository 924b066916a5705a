#pragma once

// Which faults of training a test set would miss: networks trained from mutated programs, once or several
// times, judged by one or more test sets.

#include <string>
#include <vector>

#include <assay/source_mutation.h>
#include <assay/statistical_killing.h>
#include "assay/answers/testing/mutation.h"

namespace assay::answers {

// A program of training, ready to be mutated.
struct SourceStudy {
  mutation::Program program;
  Session session;  // of the program's graph
  mutation::Subject subject{session};
};

// How the mutants of a MutationQuestion become networks.
struct SourceQuestion {
  mutation::TrainingPlan plan =
      {};                 // its session is that of the setting, as are its jobs where there are none
  bool killable = false;  // what the training data do not kill does not count
  mutation::KillDesign design = {.looks = {}};  // of mutants that are trained several times; no looks: once
};

// Mutants that are trained once.
report::Document mutate_training(const SourceStudy& study, const SourceQuestion& training,
                                 const MutationQuestion& question, const Setting& setting,
                                 Progress& progress);

// Mutants that are trained several times (DeepCrime). Only the first rank returns.
report::Document study_training(const SourceStudy& study, const SourceQuestion& training,
                                const MutationQuestion& question, const Setting& setting, Progress& progress);

// What is in a store of trained networks, without what will be pruned (mutation::prune_store()).
report::Document store_of_networks(const std::string& folder, const std::string& prune);

}  // namespace assay::answers
