#pragma once

// Does it help a network to be trained on these additional records? Fine-tunes it with the same number of additions of several
// kinds, several times each, and evaluates every outcome on the same data sets (docs/algorithms/retraining.md).

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/retraining/interval.h"
#include "assay/training/trainer.h"

namespace assay {

// A kind of additions.
struct Condition {
  std::string name;
  DatasetPtr candidates;   // out of which each repeat draws its additions; null: none, training just goes on (the control)
};

struct EvaluationSet {
  std::string name;
  DatasetPtr data;
};

struct RetrainingPlan {
  DatasetPtr training;
  std::vector<Condition> conditions;
  std::vector<EvaluationSet> sets;
  Recipe recipe;                       // its initialiser, seed, best_epoch and checkpoint are not used
  std::size_t count = 100;             // additions, the same for all conditions
  std::size_t repeats = 5;
  std::uint64_t seed = 1;              // repeat r draws additions and trains with streams of (seed, r), the same for all conditions
  std::filesystem::path journal;       // finished runs are kept here and not run again; empty: none
  std::filesystem::path networks;      // folder for CONDITION.onnx of the first repeat; empty: none
};

// One fine-tuned network.
struct RetrainingRun {
  std::string condition;
  std::size_t repeat = 0;
  std::vector<double> scores;          // per evaluation set: accuracy, or mean squared error for regression
};

struct Retraining {
  bool higher_is_better = true;        // false for mean squared errors
  std::vector<double> before;          // scores of the network as it was given
  std::vector<RetrainingRun> runs;     // repeat by repeat, conditions in the order of the plan
  std::size_t reused = 0;              // runs found in the journal
};

// Throws Error{usage} when a condition has fewer candidates than additions are wanted or the plan is empty, Error{mismatch} when
// data do not fit each other or the network. Runs that ended before an interruption are in the journal.
Retraining retrain(const Graph& graph, const RetrainingPlan& plan, const SessionOptions& options, Progress& progress);

// What the repeats of one condition say about one evaluation set.
struct ConditionScore {
  std::string condition, set;
  Interval score;
  std::optional<Interval> to_control, to_reference;   // paired by repeat; nothing for the control and for the one compared with
};

// `control`, `reference`: names of the conditions that all others are compared with; one that is not there is not compared with.
std::vector<ConditionScore> compare(const RetrainingPlan& plan, const Retraining& retraining, const std::string& control,
                                    const std::string& reference);

}  // namespace assay
