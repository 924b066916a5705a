#pragma once

// Runs mutants on a data set.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/engine/session.h"
#include "assay/mutation/state.h"
#include "assay/support/progress.h"

namespace assay {

// A mutant to be run: who it is (without results), and how its network is made when its turn comes.
struct PlannedMutant {
  MutantOutcome description;
  std::function<Graph()> make;
};

struct RunOptions {
  std::optional<double> margin = {};     // regression: a mutant answers otherwise when its output is further away than this
  double quality = 0.2;                  // a mutant that gets a greater share of T' wrong is not run to the end
  bool naive = false;                    // no shortcut: the whole mutant for each record
  std::size_t batch = 0;                 // 0: chosen by the engine
  double memory = 1 << 30;               // bytes for records and what the original computes for them
  double tie = 1e-5;                     // decisions nearer than this, relative to the values compared, are settled by the whole mutant
  std::filesystem::path journal = {};    // results are added here as they come, and found here again; empty: none
};

// What a run did, for people and benchmarks.
struct RunFigures {
  std::size_t records = 0, judged = 0;   // in the data set, and in T'
  std::size_t unlabelled = 0;            // records without a label, for which the original's answer counts
  std::size_t wrong = 0, non_finite = 0; // left out: the original errs, or gives no number
  std::size_t reused = 0;                // verdicts taken from the earlier state or the journal
  std::size_t ran = 0, settled = 0;      // verdicts found now, and of these settled by the whole mutant
  std::size_t untouched = 0;             // verdicts known without running: the fault does not reach the record
  std::size_t stopped = 0;               // mutants that were beyond the quality bound before all records ran
};

// Judges every mutant on the records of T': those that the network classifies as labelled (all finite ones with a margin).
// `earlier`: results to reuse where network, mutant and record are the same; the rest of it is left out. Results are those
// of running each whole mutant on each record; they do not depend on memory, journal or what was reused. Throws
// Error{data} when T' is empty, Error{unsupported} for networks that do not classify when there is no margin.
MutationState run_mutants(const Session& session, const std::vector<PlannedMutant>& mutants, DatasetPtr dataset, const RunOptions& options,
                          const MutationState* earlier, RunFigures& figures, Progress& progress);

}  // namespace assay
