#pragma once

// A monitor beside a network: a score of how foreign a record is, a threshold by a wanted share of false
// alarms, as a network and as source without dependencies (docs/monitor.md).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::monitor {

// Greater is more foreign. max_logit: less the greatest score; energy: less the logarithm of the sum of exp
// of the scores; mdsa: Mahalanobis distance of a layer's activations to the mean of the class that is named;
// dsa: their distance to the nearest reference of that class, by the distance of that one to the nearest
// reference of another.
enum class Score { max_logit, energy, mdsa, dsa };
// "max-logit", "energy", "mdsa", "dsa". Throws Error{usage} for another name.
Score parse_score(const std::string& name);
std::string to_string(Score score);

struct MonitorOptions {
  Score score = Score::energy;
  std::string layer = {};        // of mdsa and dsa; empty: the layer before the last one with weights
  std::size_t references = 100;  // of dsa: so many training records of each class that is named
  double false_alarms = 0.05;    // wanted share
  std::size_t batch = 0;
};

struct Monitor {
  MonitorOptions options;
  std::string layer;                      // of mdsa and dsa
  std::size_t classes = 0, features = 0;  // scores, and activations of mdsa and dsa
  std::vector<float> means;               // of mdsa: [classes, features]
  std::vector<float> whitening;  // [features, features]: the distance is the length of (a - mean) times it
  std::vector<float> references, apart;         // of dsa: [references, features]; distance to other classes
  std::vector<std::int64_t> reference_classes;  // as the network names them
  double threshold = 0;
  std::size_t calibration_records = 0;
  // The network with the further outputs monitor_score [N] and monitor_alarm [N].
  Graph graph;
};

// `training`: of mdsa and dsa, else null. `calibration`: records like those in operation, which set the
// threshold: the least number of which at most the wanted share of further such records is above, on average
// over calibration sets (conformal prediction). Throws Error{data} for fewer records than that share needs,
// Error{unsupported} for networks without scores of classes and layers whose neurons do not lie along axis 1.
Monitor make_monitor(const Session& session, const DatasetPtr& training, const DatasetPtr& calibration,
                     const MonitorOptions& options, Progress& progress);

// Score of each record, by a session of Monitor::graph.
std::vector<double> scores_of(const Session& monitor, const DatasetPtr& dataset, std::size_t batch,
                              Progress& progress);

// The same score as C++17 that needs nothing but the standard library: alarm(), score() and threshold in a
// namespace of that name.
std::string to_source(const Monitor& monitor, const std::string& name);

// The probability that a foreign record has a greater score than a usual one; equal scores count half.
double auroc(std::span<const double> usual, std::span<const double> foreign);

struct Detection {
  std::string name;
  std::size_t records = 0, alarms = 0;
  double auroc = 0.5;
};
// Of foreign records, against scores of usual ones.
Detection detection_of(const std::string& name, std::span<const double> foreign,
                       std::span<const double> usual, double threshold);
// Scores of records that an attack or corruption changes: right records, changed until the network is wrong
// or the attack gives up. `spec`: as `assay attack` has it. `batch`: 0: chosen by the engine.
std::vector<double> scores_of_attacked(const Session& session, const Session& monitor,
                                       const DatasetPtr& dataset, const std::string& spec, std::size_t batch,
                                       std::uint64_t seed, Progress& progress);

}  // namespace assay::monitor
