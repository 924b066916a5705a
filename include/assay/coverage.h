#pragma once

// Coverage of a test set: learning a profile from the training set (one pass of relevance where clusters are
// requested, and one pass of activations for everything), and measuring, every criterion in one pass
// (docs/coverage.md).

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/coverage_state.h>
#include <assay/dataset.h>
#include <assay/extend/clustering.h>
#include <assay/extend/criteria.h>
#include <assay/progress.h>
#include <assay/relevance.h>

namespace assay::task {
class Task;
}

namespace assay::coverage {

// Items as what criteria see, in place of records: pixels, tokens, boxes, labels that are there. An item has
// the class that the network decides. In layers that keep positions its activations are those at its
// position, in the others those of its record.
struct ItemChoice {
  std::shared_ptr<const task::Task> task;
  std::size_t most = 0;    // of each record, drawn at random; 0: all
  std::uint64_t seed = 1;  // of the draws
  std::string text() const { return most == 0 ? "all" : std::to_string(most); }
};

struct LearnOptions {
  std::vector<CriterionChoice> criteria;  // what the profile is for
  std::vector<std::string> layers;        // selectors of layers that count; empty: all
  std::vector<std::string>
      subjects;  // of the layers of idc, lsc, dsc, mdsc, scc, selectors; empty: the penultimate layer
  // The only neurons of these layers that count, ascending; of idc they are the important ones. Where there
  // are any, empty `layers` and `subjects` mean their layers.
  std::map<std::string, std::vector<std::size_t>> units;
  double share = 0.9;  // for idc[m=auto]: of the absolute relevance, at most `cap` neurons
  std::size_t cap = 12;
  relevance::ImportanceOptions importance;
  clustering::ClustererChoice clusterer = "kmeans";
  clustering::ClusterOptions clusters;
  Reduction reduction = Reduction::mean;
  // Further records, such as what a search has found, whose combinations count as reachable for aidc.
  DatasetPtr reached;
  std::optional<ItemChoice> items;  // nothing: records
  std::size_t batch = 0;
};

struct Learned {
  Profile profile;
  relevance::Importance importance;         // empty unless clusters were requested
  std::size_t non_finite = 0;               // records left out because an activation is not finite
  std::vector<std::string> non_finite_ids;  // the first few
};

// Throws Error{mismatch} when importance is needed and the network classifies no record correctly.
Learned learn_profile(const Session& session, DatasetPtr training, const LearnOptions& options,
                      Progress& progress);

struct MeasureOptions {
  std::string context = {};  // label of this data set
  std::size_t shard = 1,
              shards = 1;  // this run walks the shard-th of so many parts of the data set, whole batches each
  std::size_t batch = 0;   // 0: chosen by network and size of the data set
  std::filesystem::path journal =
      {};  // the state so far is noted here now and then, and continued from; empty: never
  double journal_seconds = 10;
  std::size_t growth_points = 0;         // so many times on the way, coverage is noted
  bool remember_records = false;         // RecordFacts are kept, where the network classifies
  bool remember_items = false;           // ids of covered items are kept per record, for choosing tests
  std::optional<ItemChoice> items = {};  // as the profile was learned
};

// Facts of one record.
struct RecordFacts {
  std::size_t record = 0;
  std::int64_t predicted = -1, label = -1;  // -1: none
  double confidence = 0;                    // the greatest of the probabilities (softmax of the logits)
  std::vector<double> doubts;               // by those probabilities, in the order of doubts()
  // Throws Error{usage} for a name that is not among doubts().
  double doubt(const std::string& name) const;
};

struct GrowthPoint {
  std::size_t records = 0;
  std::vector<double> values;  // per criterion, all layers (the first layer for criteria that do not add up)
};

// Facts that are only known while the records are read.
struct Observations {
  std::vector<RecordFacts> records;  // in the order walked, if remembered
  std::vector<GrowthPoint> growth;
  std::vector<std::vector<std::vector<std::uint64_t>>>
      items;  // [criterion][record position][items], if remembered; empty for criteria without items
  InputSummary inputs;
  std::size_t in_training = 0;  // records that are training records as well, by their elements
  // Activations of the important neurons, in bins as in their profile: [clusters entry][neuron][bin].
  std::vector<std::vector<std::vector<std::uint32_t>>> histograms;
};

// Walks the records that the state has not seen yet and adds them. Throws Error{mismatch} when the network is
// not the profile's, where it was learned from items and these are records or the reverse, or for the journal
// of another call. After an interruption the journal holds a state from which the same call, with the same
// state to begin with, continues to the same result. The journal remains: the caller removes it
// (Journal::remove) once the state is safe.
Observations measure(const Session& session, CoverageState& state, DatasetPtr test,
                     const MeasureOptions& options, Progress& progress);

}  // namespace assay::coverage
