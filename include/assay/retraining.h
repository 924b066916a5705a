#pragma once

// Does it help a network to be trained on these additional records? Fine-tunes it with the same number of
// additions of several kinds, several times each, and evaluates every outcome on the same data sets
// (docs/algorithms/retraining.md).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/adapt.h>
#include <assay/dataset.h>
#include <assay/training.h>

namespace assay::task {
class Task;
}

namespace assay::retraining {

// What repeated runs say about a mean: standard deviation and confidence interval by Student's t
// distribution.
struct Interval {
  std::size_t count = 0;
  double mean = 0;
  // Nothing for a single value. deviation: divided by count - 1. low, high: the interval of the mean at the
  // level requested.
  std::optional<double> deviation, low, high;
};

// REQUIRES: not empty, 0 < level < 1.
Interval interval_of(std::span<const double> values, double level = 0.95);

// The interval of the mean of a[i] - b[i]: runs that share a seed are compared with each other (paired t
// interval). REQUIRES: as many values in both.
Interval paired_difference(std::span<const double> a, std::span<const double> b, double level = 0.95);

// The t below which a Student t variable with `degrees` of freedom stays with probability p. Exact to about
// 12 digits. REQUIRES: 0 < p < 1, degrees > 0.
double student_quantile(double p, double degrees);

// Probability that the variable is at most t.
double student_probability(double t, double degrees);

// A kind of additions.
struct Condition {
  std::string name;
  DatasetPtr candidates;  // out of which each repeat draws its additions; null: none, training just continues
                          // (the control)
};

struct EvaluationSet {
  std::string name;
  DatasetPtr data;
};

struct RetrainingPlan {
  std::shared_ptr<const task::Task> task =
      {};  // of records with many items: scores are shares of right items
  DatasetPtr training;
  std::vector<Condition> conditions;
  std::vector<EvaluationSet> sets;
  training::Recipe recipe;  // its initialiser, seed, best_epoch and checkpoint are not used
  std::size_t count = 100;  // additions, the same for all conditions
  std::size_t repeats = 5;
  std::size_t batch = 0;  // records that are evaluated at a time; 0: as many as suits the network
  std::uint64_t seed =
      1;  // repeat r draws additions and trains with streams of (seed, r), the same for all conditions
  std::filesystem::path journal;   // finished runs are kept here and not run again; empty: none
  std::filesystem::path networks;  // folder for CONDITION.onnx of the first repeat; empty: none
  FileForm form = {};              // in which those files are written
};

// One fine-tuned network.
struct RetrainingRun {
  std::string condition;
  std::size_t repeat = 0;
  std::vector<double> scores;  // per evaluation set: accuracy, or mean squared error for regression
};

struct Retraining {
  bool higher_is_better = true;     // false for mean squared errors
  std::vector<double> before;       // scores of the network as it was given
  std::vector<RetrainingRun> runs;  // repeat by repeat, conditions in the order of the plan
  std::size_t reused = 0;           // runs found in the journal
};

// Throws Error{usage} when a condition has fewer candidates than additions are wanted or the plan is empty,
// Error{mismatch} when data do not fit each other or the network. Runs that ended before an interruption are
// in the journal.
Retraining retrain(const Graph& graph, const RetrainingPlan& plan, const SessionOptions& options,
                   Progress& progress);

// What the repeats of one condition say about one evaluation set.
struct ConditionScore {
  std::string condition, set;
  Interval score;
  std::optional<Interval> to_control,
      to_reference;  // paired by repeat; nothing for the control and for the one compared with
};

// `control`, `reference`: names of the conditions that all others are compared with; one that is not there is
// not compared with.
std::vector<ConditionScore> compare(const RetrainingPlan& plan, const Retraining& retraining,
                                    const std::string& control, const std::string& reference);

// Labels for unlabelled records: the class that most of several networks name.
struct Vote {
  std::vector<std::size_t> records;  // positions of those with a majority, ascending
  std::vector<std::int64_t> labels;  // of those
  std::size_t dropped = 0;           // records without: they are never guessed
};

// ballots[network][record]: the class named. A class has the majority when more than half of the networks
// name it (of three, two). Throws Error{usage} for fewer than three networks: two either agree or tie.
Vote majority_vote(const std::vector<std::vector<std::int64_t>>& ballots);

// The same with what the networks say, of `batch` records at a time (0: chosen by the engine). Throws
// Error{mismatch} when one of them is not a classifier.
Vote majority_vote(std::span<const Session> networks, const DatasetPtr& dataset, std::size_t batch,
                   Progress& progress);

// Records that are kept from training, to be judged by.
struct HoldOut {
  std::vector<std::size_t> kept, held;  // positions, ascending; together all records, each once
};

// About `share` of the records are held out. Seed and id alone decide on which side a record falls: records
// with one id (made from one original by several attacks, say) are never on both sides, and the sides stay
// when a data set grows or is sliced.
HoldOut hold_out(const Dataset& dataset, double share, std::uint64_t seed);

}  // namespace assay::retraining
