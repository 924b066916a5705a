#pragma once

// Measuring a test set: every criterion in one pass.

#include <filesystem>
#include <functional>

#include "assay/coverage/state.h"
#include "assay/data/dataset.h"
#include "assay/support/progress.h"

namespace assay {

struct MeasureOptions {
  std::string context = {};             // label of this data set
  std::size_t shard = 1, shards = 1;    // this run walks the shard-th of so many parts of the data set, whole batches each
  std::size_t batch = 0;                // 0: chosen by network and size of the data set
  std::filesystem::path journal = {};   // the state so far is written here now and then; empty: never
  double journal_seconds = 10;
  std::size_t growth_points = 0;        // so many times on the way, coverage is noted
  bool remember_records = false;        // RecordFacts are kept
  bool remember_items = false;          // ids of covered items are kept per record, for choosing tests
};

// What one record did.
struct RecordFacts {
  std::size_t record = 0;
  std::int64_t predicted = -1, label = -1;   // -1: none
  double confidence = 0;                     // the greatest of the probabilities (softmax of the logits)
  std::vector<double> doubts;                // by those probabilities, in the order of doubts()
  // Throws Error{usage} for a name that is not among doubts().
  double doubt(const std::string& name) const;
};

struct GrowthPoint {
  std::size_t records = 0;
  std::vector<double> values;  // per criterion, all layers (the first layer for criteria that do not add up)
};

// What is only known while the records pass by.
struct Observations {
  std::vector<RecordFacts> records;                           // in the order walked, if remembered
  std::vector<GrowthPoint> growth;
  std::vector<std::vector<std::vector<std::uint64_t>>> items;  // [criterion][record position][items], if remembered; empty for criteria without items
  // Activations of the important neurons, in bins as in their profile: [clusters entry][neuron][bin].
  std::vector<std::vector<std::vector<std::uint32_t>>> histograms;
};

// Walks the records that the state has not seen yet and adds them. Throws Error{mismatch} when the network is not the
// profile's. After an interruption the journal holds a state from which the same call goes on.
Observations measure(const Session& session, CoverageState& state, DatasetPtr test, const MeasureOptions& options, Progress& progress);

}  // namespace assay
