#pragma once

// Running mutants of a network on a data set, and the scores of the data set against them (Ma et al.,
// DeepMutation, ISSRE 2018; docs/mutation.md).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/mutation_draw.h>
#include <assay/mutation_state.h>
#include <assay/progress.h>
#include <assay/selection.h>
#include <assay/session.h>

namespace assay::task {
class Task;
}

namespace assay::mutation {

// A mutant to be run: its identity (without results), and how its network is made when it is needed.
struct PlannedMutant {
  MutantOutcome description;
  std::function<Graph()> make;
  // A separate network (trained), not an edit of the original's graph; known where the graphs' values differ.
  bool separate = false;
};
// One that was drawn. The subject must outlive the result. Throws as apply().
PlannedMutant planned(const Subject& subject, const Mutant& mutant);

// A second way to kill a classifier's mutant: the decision is the same, the distribution of answers is not.
struct Divergence {
  enum class Kind { jensen_shannon, kullback_leibler };
  Kind kind = Kind::jensen_shannon;
  double above = 0;  // nats; a record kills where original and mutant are further apart

  std::string describe() const;  // "js above 2.1e-06 nats"
};
// The greatest divergence on a record when only weights are rounded ("bf16", "fp16", "int8"); 1e-9 at least.
// `batch` records run at a time (0: chosen by the engine).
double noise_floor(const Session& session, DatasetPtr dataset, Divergence::Kind kind,
                   const std::string& rounding, std::size_t batch, Progress& progress);

struct RunOptions {
  // Decides if a record has many items (null: the output is scores of classes, or numbers with a margin). T'
  // is then the records with items that the original decides correctly.
  std::shared_ptr<const task::Task> task = {};
  // A mutant decides differently when its output is further away than this (regression), or when it decides
  // differently more than this share of the items that the original decides correctly (tasks of items;
  // absent: 0).
  std::optional<double> margin = {};
  std::optional<Divergence> divergence = {};  // of classifiers that decide once a record
  double quality = 0.2;     // a mutant that gets a greater share of T' wrong is not run to the end
  bool naive = false;       // no shortcut: the whole mutant for each record
  std::size_t batch = 0;    // 0: chosen by the engine
  double memory = 1 << 30;  // bytes for records and what the original computes for them
  double tie = 1e-5;  // decisions nearer, relative to the values compared, are settled by the whole mutant
  // Results are added here as they come, and found here again; empty: none.
  std::filesystem::path journal = {};
};

// What a run did, for people and benchmarks.
struct RunFigures {
  std::size_t records = 0, judged = 0;    // in the data set, and in T'
  std::size_t unlabelled = 0;             // records without a label, for which the original's answer counts
  std::size_t wrong = 0, non_finite = 0;  // left out: the original errs, or gives no number
  std::size_t reused = 0;                 // verdicts taken from the earlier state or the journal
  std::size_t ran = 0, settled = 0;       // verdicts found now, and of these settled by the whole mutant
  std::size_t untouched = 0;  // verdicts known without running: the fault does not reach the record
  std::size_t stopped = 0;    // mutants that were beyond the quality bound before all records ran
};

// Judges every mutant on the records of T': those that the network classifies as labelled (all finite ones
// with a margin). `earlier`: results to reuse where network, mutant and record are the same; the rest of it
// is left out. Results are those of running each whole mutant on each record; they do not depend on memory,
// journal or what was reused. Throws Error{data} when T' is empty, Error{unsupported} for networks that do
// not classify when there is no margin.
MutationState run_mutants(const Session& session, const std::vector<PlannedMutant>& mutants,
                          DatasetPtr dataset, const RunOptions& options, const MutationState* earlier,
                          RunFigures& figures, Progress& progress);

struct ScoreOptions {
  double quality =
      0.2;  // mutants that get a greater share of T' wrong are left out, and listed; above 1: none
  double trivial = 0.9;  // killed by at least this share of T'
  double unchanged =
      1e-6;  // a survivor whose decision values never changed by more than this looks equivalent
  double indecisive =
      1e-4;  // a mutant whose surest kill is nearer to a tie than this, relative to the values, is unstable
  std::uint64_t seed = 1;  // of the bootstrap
  std::size_t resamples = 1000;
};

enum class MutantStatus { killed, survived, excluded, incomplete };
std::string to_string(MutantStatus status);

struct MutantScore {
  MutantStatus status = MutantStatus::incomplete;
  std::size_t ran = 0, killers = 0;   // records of T' that ran, and that killed
  std::vector<std::size_t> by_class;  // killing records per class; of items, those that kill in the class
  std::size_t killed_classes = 0;
  double error_rate = 0;  // killers / ran
  bool looks_equivalent = false, trivial = false, unstable = false;
  bool uncounted = false;  // excluded since the training data do not kill it
};

// Over a group of mutants: those of an operator, a layer, all.
struct GroupScore {
  std::string name;
  std::size_t mutants = 0, killed = 0, survived = 0, excluded = 0, incomplete = 0;
  std::size_t uncounted = 0;                        // of those excluded: not killed by the training data
  std::uint64_t killed_classes = 0, coverable = 0;  // sum over mutants; mutants x classes
  std::optional<double> score;                      // killed_classes / coverable; nothing without mutants
  std::optional<double> error_rate;                 // mean over mutants
  std::optional<double> low,
      high;  // 95 % interval of the score: bootstrap over mutants; nothing with fewer than two
};

// For the test inputs of one class, or with items of it.
struct ClassScore {
  std::int64_t number = 0;
  std::size_t records = 0;  // of T'
  std::uint64_t killed = 0,
                coverable = 0;  // mutants killed by this class; mutants x classes, so that the parts add up;
                                // of items, mutants
  std::optional<double> score, error_rate;
};

struct MutationScore {
  std::vector<MutantScore> mutants;  // as in the state
  GroupScore all;
  std::vector<GroupScore> by_operator, by_layer;
  std::vector<ClassScore> by_class;
  std::size_t records = 0, judged = 0;  // walked, and in T'
  std::vector<std::size_t> idle;        // records of T' that kill no mutant that counts
};

MutationScore score(const MutationState& state, const ScoreOptions& options);

// The smallest set of records found that kills the same classes of the same mutants (positions in
// state.records()).
selection::Cover killing_subset(const MutationState& state, const MutationScore& score);

}  // namespace assay::mutation
